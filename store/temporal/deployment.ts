import { setTimeout as delay } from 'node:timers/promises';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import type { TemporalConfig } from '../config.ts';
import { connectionOptions } from './client.ts';

/** Two gRPC codes: the server has not heard of such workers yet, or not on every task queue. */
const notYet = new Set([5, 9]);
const retryMs = 500;

/**
 * Makes the workers of this build the ones that get tasks, of running workflows and of new ones. Waits until they ask for tasks.
 * Null: workers have no build id, so that any of them gets any task.
 */
export async function promoteBuild(config: TemporalConfig, waitMs: number, signal?: AbortSignal): Promise<string | null> {
  const { namespace, taskQueue: deploymentName, buildId } = config;
  if (buildId === null) return null;
  const connection = await Connection.connect({ ...connectionOptions(config), connectTimeout: '5s' });
  try {
    for (const untilMs = Date.now() + waitMs; ; await delay(retryMs, undefined, { signal })) {
      try {
        await connection.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId, identity: 'promote' });
        return buildId;
      } catch (error) {
        if (!isGrpcServiceError(error) || !notYet.has(error.code) || Date.now() > untilMs) throw error;
      }
    }
  } finally {
    await connection.close();
  }
}
