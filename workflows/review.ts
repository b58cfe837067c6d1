import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { reviewTables } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 5 },
});
const { failReview } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Looks for mistakes in the tables of a workbook. It changes nothing but that it may save a report. */
export async function review(jobId: string): Promise<string> {
  try {
    await reviewTables(jobId);
    return 'reviewed';
  } catch (error) {
    const reason = isCancellation(error) ? 'cancelled' : 'failed';
    await CancellationScope.nonCancellable(() => failReview(jobId, reason));
    return reason;
  }
}
