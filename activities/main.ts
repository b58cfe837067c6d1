import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { loadServiceConfig } from '../store/config.ts';
import { runService } from '../store/lifecycle.ts';
import { startWorker } from './worker.ts';

/** A worker as a process. Our own signal handling stops it; the SDK's would compete with it. */
Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('WARN'),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
});
await runService('worker', async () => startWorker(loadServiceConfig()));
