import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { materializeSource } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 5 },
});
const { failSourceJob } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Makes tables from regions of a source, or appends their rows to one. */
export async function materialize(jobId: string): Promise<string> {
  try {
    await materializeSource(jobId);
    return 'materialized';
  } catch (error) {
    const reason = isCancellation(error) ? 'cancelled' : 'failed';
    await CancellationScope.nonCancellable(() => failSourceJob(jobId, reason));
    return reason;
  }
}
