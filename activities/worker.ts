import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { ServiceConfig } from '../store/config.ts';
import type { Service } from '../store/lifecycle.ts';
import { openServices, type Services } from '../store/services.ts';
import { bundleKindOf, prepareWorkflowBundle } from '../store/temporal/bundle.ts';
import { connectionOptions } from '../store/temporal/client.ts';
import { makeDataConverter } from '../store/temporal/payloads.ts';
import { ensureSchedules } from '../store/temporal/schedules.ts';
import { runPublishers } from './events/publisher.ts';
import { makeActivities, makeDeliveryActivities } from './index.ts';

/** A worker process: runs workflow and activity tasks until it is told to stop. */
export async function startWorker(config: ServiceConfig): Promise<Service> {
  const { apiKey, ...rest } = connectionOptions(config.temporal);
  const [services, connection, codePath] = await Promise.all([
    openServices(config, 'worker'),
    NativeConnection.connect({ ...rest, apiKey: apiKey as string | undefined }),
    prepareWorkflowBundle(bundleKindOf(config)),
  ]);
  // Steps that are not done by then are cancelled, and need time to notice; another worker runs them again.
  const graceMs = config.stop.timeMs / 2;
  const { buildId, taskQueue: deploymentName } = config.temporal;
  // Running workflows go on with the newest build: their histories are replayed in the tests, and older workers may be gone.
  const build: Pick<WorkerOptions, 'workerDeploymentOptions'> = buildId
    ? {
        workerDeploymentOptions: {
          useWorkerVersioning: true,
          version: { deploymentName, buildId },
          defaultVersioningBehavior: 'AUTO_UPGRADE',
        },
      }
    : {};
  const dataConverter = makeDataConverter(config.temporal);
  const creating = Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: config.temporal.taskQueue,
    workflowBundle: { codePath },
    activities: makeActivities(services),
    dataConverter,
    ...services.tracing?.workerOptions,
    shutdownGraceTime: graceMs,
    ...build,
    // By default heartbeats are sent so rarely that cancelled work goes on for half a minute.
    maxHeartbeatThrottleInterval: '2 seconds',
  });
  const worker = await creating;
  const deliverer = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: `${config.temporal.taskQueue}-deliveries`,
    activities: makeDeliveryActivities(services),
    dataConverter,
    ...services.tracing?.workerOptions,
    shutdownGraceTime: graceMs,
    ...build,
    maxConcurrentActivityTaskExecutions: 1_000,
  });
  const running = Promise.all([worker.run(), deliverer.run()]);
  const stopping = new AbortController();
  void makeSchedules(services, stopping.signal);
  const publishing = runPublishers(services, stopping.signal);
  // A failed worker ends its process; the supervisor starts another.
  running.catch((error: unknown) => {
    services.log.error({ error: (error as Error).name }, 'worker failed');
    process.exit(1);
  });
  // The first file does not wait for the start of its process; a failure is reported where a file needs one.
  services.fileProcesses().catch(() => {});
  services.log.info({ taskQueue: config.temporal.taskQueue }, 'working');
  return {
    stopWithinMs: config.stop.timeMs,
    async stop() {
      stopping.abort();
      worker.shutdown();
      deliverer.shutdown();
      await running;
      await publishing;
      await connection.close();
      await services.close();
    },
  };
}

const scheduleRetryMs = 2_000;

/** Work does not wait for the schedules: a server that has just come back answers for them last. */
async function makeSchedules(services: Services, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await ensureSchedules(await services.temporal(), services.config);
    } catch (error) {
      if (signal.aborted) return;
      services.log.warn({ error: (error as Error).message }, 'schedules not made yet');
      await delay(scheduleRetryMs, undefined, { signal }).catch(() => {});
    }
  }
}
