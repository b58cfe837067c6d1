import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { analyzeSource } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 5 },
});
const { failSourceJob } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Proposes the parse spec of a source. */
export async function analyze(jobId: string): Promise<string> {
  try {
    await analyzeSource(jobId);
    return 'analyzed';
  } catch (error) {
    const reason = isCancellation(error) ? 'cancelled' : 'failed';
    await CancellationScope.nonCancellable(() => failSourceJob(jobId, reason));
    return reason;
  }
}
