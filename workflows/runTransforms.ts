import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { runTransform } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 5 },
});
const { finishTransformJob, failTransformJob } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Runs a transform. */
export async function transform(jobId: string): Promise<string> {
  return endWell(jobId, async () => {
    if ((await runTransform(jobId)) === 'over') return 'refused';
    await finishTransformJob(jobId);
    return 'ran';
  });
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
