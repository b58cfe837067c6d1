import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceConfig } from '../store/config.ts';
import { openServices, type Services } from '../store/services.ts';
import { makeHandlers } from './handlers/index.ts';
import { makeApp } from './http/app.ts';
import { answers, ByteBudget, work } from './http/byteBudget.ts';
import { loadContract } from './http/contract.ts';
import { closeServer, keepNoConnections, makeHttpServer, usualLimits } from './http/httpServer.ts';
import { makeMetrics } from './http/metrics.ts';
import { makeRateLimiter } from './http/rateLimit.ts';
import { makeRequestCounter, type RequestCounter } from './http/requestCounts.ts';
import { Turns } from './http/turns.ts';

export interface RunningApi {
  port: number;
  services: Services;
  counter: RequestCounter;
  stop(): Promise<void>;
  stopWithinMs: number;
}

export async function startApi(config: ServiceConfig): Promise<RunningApi> {
  return serveApi(await openServices(config, 'api'));
}

export async function serveApi(services: Services): Promise<RunningApi> {
  const { config } = services;
  const stopping = new AbortController();
  const parts = {
    services,
    stopping: stopping.signal,
    contract: await loadContract(),
    takeRequest: makeRateLimiter(services),
    turns: new Turns(),
    counter: makeRequestCounter(services),
    budgets: { answers: new ByteBudget(config.answers, answers), work: new ByteBudget(config.work, work) },
  };
  const metrics = makeMetrics(services, parts.contract.version);
  const app = makeApp(parts, makeHandlers(parts, metrics), metrics);
  // Behind a proxy all connections are the proxy's.
  const limitsAddresses = config.rateLimits && config.trustedProxies === 0;
  const server = makeHttpServer(app.callback(), services.log, { ...usualLimits, limitsAddresses });
  await listen(server, config);
  const address = server.address();
  services.log.info({ port: config.port }, 'listening');
  return {
    port: typeof address === 'object' && address ? address.port : config.port,
    services,
    counter: parts.counter,
    stopWithinMs: config.stop.delayMs + config.stop.timeMs,
    async stop() {
      // From now on /readyz says no. Until a balancer has heard of it, it sends requests, which are answered.
      stopping.abort();
      keepNoConnections(server);
      await delay(config.stop.delayMs);
      services.jobWatch.close();
      services.eventWatch.close();
      await closeServer(server);
      await parts.counter.stop();
      await services.close();
    },
  };
}

function listen(server: Server, { port, host }: ServiceConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
}
