import { createServer, type Server } from 'node:http';
import type { ServiceConfig } from '../store/config.ts';
import { openServices, type Services } from '../store/services.ts';
import { makeHandlers } from './handlers/index.ts';
import { pendingOperations } from './handlers/pending.ts';
import { makeApp } from './http/app.ts';
import { refuseBrokenRequests } from './http/brokenRequests.ts';
import { limitConnections } from './http/connectionLimit.ts';
import { loadContract, type OperationId } from './http/contract.ts';
import { makeMetrics } from './http/metrics.ts';
import { makeRateLimiter } from './http/rateLimit.ts';
import { makeRequestCounter } from './http/requestCounts.ts';

export interface RunningApi {
  port: number;
  services: Services;
  stop(): Promise<void>;
}

/** Time for a request to arrive: 100 MiB over a slow line take a while. */
const requestTimeoutMs = 30 * 60_000;

/** Room for an address of 64 KiB, which is what the contract's parameters may come to, and for the headers. */
const maxHeaderSize = 96 * 1024;

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
    pending,
  };
  const metrics = makeMetrics(services, parts.contract.version);
  const app = makeApp(parts, makeHandlers(parts, metrics), metrics);
  const server = createServer({ requestTimeout: requestTimeoutMs, maxHeaderSize }, app.callback());
  refuseBrokenRequests(server, services.log);
  // Behind a proxy all connections are the proxy's.
  if (config.rateLimits && !config.trustProxy) limitConnections(server);
  await listen(server, config);
  const address = server.address();
  services.log.info({ port: config.port }, 'listening');
  return {
    port: typeof address === 'object' && address ? address.port : config.port,
    services,
    async stop() {
      services.jobWatch.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
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
