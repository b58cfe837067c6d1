import type { Server } from 'node:http';
import type { ServiceConfig } from '../store/config.ts';
import { openServices, type Services } from '../store/services.ts';
import { makeHandlers } from './handlers/index.ts';
import { pendingOperations } from './handlers/pending.ts';
import { makeApp } from './http/app.ts';
import { answers, ByteBudget, work } from './http/byteBudget.ts';
import { loadContract, type OperationId } from './http/contract.ts';
import { closeServer, makeHttpServer, usualLimits } from './http/httpServer.ts';
import { makeMetrics } from './http/metrics.ts';
import { makeRateLimiter } from './http/rateLimit.ts';
import { makeRequestCounter } from './http/requestCounts.ts';

export interface RunningApi {
  port: number;
  services: Services;
  stop(): Promise<void>;
}

export async function startApi(config: ServiceConfig): Promise<RunningApi> {
  return serveApi(await openServices(config, 'api'));
}

export async function serveApi(services: Services): Promise<RunningApi> {
  const { config } = services;
  const pending = new Set<OperationId>(pendingOperations);
  const parts = {
    services,
    contract: await loadContract(pending),
    takeRequest: makeRateLimiter(services),
    counter: makeRequestCounter(services),
    budgets: { answers: new ByteBudget(config.answers, answers), work: new ByteBudget(config.work, work) },
    pending,
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
    async stop() {
      services.jobWatch.close();
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
