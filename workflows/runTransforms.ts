import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { runTransform, rerunTransform } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 5 },
});
const { listNextRuns, finishTransformJob, failTransformJob } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Runs a transform, then what is made from its output. */
export async function transform(jobId: string): Promise<string> {
  return endWell(jobId, async () => {
    if ((await runTransform(jobId)) === 'over') return 'refused';
    await rerunStale(jobId);
    return 'ran';
  });
}

/** Runs the transforms behind all stale tables of a workbook. */
export async function recompute(jobId: string): Promise<string> {
  return endWell(jobId, async () => {
    await rerunStale(jobId);
    return 'recomputed';
  });
}

/** In the order of dependency; those that do not depend on each other at the same time. Each is tried once. */
async function rerunStale(jobId: string): Promise<void> {
  for (let next = await listNextRuns(jobId); next.length > 0; next = await listNextRuns(jobId))
    await Promise.all(next.map((transformId) => rerunTransform(jobId, transformId)));
  await finishTransformJob(jobId);
}

/** Ends the job also when the work fails or is cancelled. */
async function endWell(jobId: string, work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    const reason = isCancellation(error) ? 'cancelled' : 'failed';
    await CancellationScope.nonCancellable(() => failTransformJob(jobId, reason));
    return reason;
  }
}
