import { readFileSync } from 'node:fs';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import proto from '@temporalio/proto';
import type pino from 'pino';
import { DomainError } from '../../core/errors.ts';
import type { TemporalConfig } from '../config.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { makeDataConverter } from './payloads.ts';
import { registerAttributes, waitForAttributes } from './registerAttributes.ts';
import { retryUntilClosed } from './retryUntilClosed.ts';

export interface Temporal {
  client: Client;
  describeNamespace(): Promise<void>;
  /** Whether workers ask for tasks of both kinds. */
  hasWorkers(taskQueue: string): Promise<boolean>;
  /** How many tasks wait for a worker, about. */
  countWaitingTasks(taskQueue: string): Promise<{ workflow: number; activity: number }>;
  close(): Promise<void>;
}

const { TASK_QUEUE_TYPE_WORKFLOW: WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY: ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
const taskTypes = { WORKFLOW, ACTIVITY };

/** Used by clients and workers. */
export function connectionOptions(config: TemporalConfig): ConnectionOptions {
  const read = (path: string | null) => (path === null ? undefined : readFileSync(path));
  const { tls } = config;
  return {
    address: config.address ?? undefined,
    apiKey: config.apiKey ?? undefined,
    tls: tls
      ? {
          serverNameOverride: tls.serverName ?? undefined,
          serverRootCACertificate: read(tls.caPath),
          clientCertPair: tls.certPath && tls.keyPath ? { crt: readFileSync(tls.certPath), key: readFileSync(tls.keyPath) } : undefined,
        }
      : undefined,
  };
}

export function temporalAway(cause: unknown): DomainError {
  return new DomainError('unavailable', 'The workflow server cannot be reached just now.', 'Try again in a few seconds.', {
    cause,
    headers: { 'Retry-After': '5' },
  });
}

export async function connectTemporal(config: TemporalConfig, log: pino.Logger, tracing: Tracing | null): Promise<Temporal> {
  const connection = await Connection.connect({ ...connectionOptions(config), connectTimeout: '5s', interceptors: retryUntilClosed });
  const interceptors = tracing ? { workflow: [tracing.clientInterceptor] } : {};
  const client = new Client({ connection, namespace: config.namespace, dataConverter: makeDataConverter(config), interceptors });
  try {
    if ((await registerAttributes(connection, config.namespace, log)) === 'registered') await waitForAttributes(client);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const describeQueue = (name: string, taskQueueType: number) =>
    connection.withDeadline(Date.now() + 1_000, () =>
      connection.workflowService.describeTaskQueue({ namespace: config.namespace, taskQueue: { name }, taskQueueType, reportStats: true }),
    );
  return {
    client,
    async describeNamespace() {
      await connection.withDeadline(Date.now() + 3_000, () =>
        connection.workflowService.describeNamespace({ namespace: config.namespace }),
      );
    },
    async hasWorkers(taskQueue) {
      const kinds = await Promise.all(Object.values(taskTypes).map((taskQueueType) => describeQueue(taskQueue, taskQueueType)));
      return kinds.every(({ pollers }) => hasAsked(pollers ?? [], Date.now()));
    },
    async countWaitingTasks(taskQueue) {
      const count = async (taskQueueType: number) => {
        const { stats } = await describeQueue(taskQueue, taskQueueType);
        return Number(stats?.approximateBacklogCount ?? 0);
      };
      const [workflow, activity] = await Promise.all([count(taskTypes.WORKFLOW), count(taskTypes.ACTIVITY)]);
      return { workflow, activity };
    },
    close: () => connection.close(),
  };
}

/** A worker asks again after a minute at most. The server lists those that are gone for some minutes more. */
const askedWithinMs = 90_000;

type Poller = proto.temporal.api.taskqueue.v1.IPollerInfo;

/** Whether one of the workers that the server lists has asked for a task lately. */
export function hasAsked(pollers: Pick<Poller, 'lastAccessTime'>[], nowMs: number): boolean {
  return pollers.some(({ lastAccessTime }) => nowMs - Number(lastAccessTime?.seconds ?? 0) * 1000 < askedWithinMs);
}
