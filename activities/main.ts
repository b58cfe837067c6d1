import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { loadServiceConfig } from '../store/config.ts';
import { runService } from '../store/lifecycle.ts';
import { startWorker } from './worker.ts';

const logger = new DefaultLogger('WARN');
const log = logger.log.bind(logger);
// The worker of deliveries has activities alone, on purpose.
logger.log = (level, message, meta) => message.startsWith('No workflows registered') || log(level, message, meta);

/** A worker as a process. Our own signal handling stops it; the SDK's would compete with it. */
Runtime.install({
  shutdownSignals: [],
  logger,
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
});
await runService('worker', async () => startWorker(loadServiceConfig()));
