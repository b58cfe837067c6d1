import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const options = { heartbeatTimeout: '30 seconds', retry: { initialInterval: '1 second', maximumInterval: '30 seconds' } } as const;
const { landRaw, structure } = proxyActivities<Activities>({
  ...options,
  startToCloseTimeout: '30 minutes',
  retry: { ...options.retry, maximumAttempts: 5 },
});
// Steps that only write to the database are retried without limit, because a job must not stay half done.
const { promote, fallBackIngest, failIngest, abandonIngest } = proxyActivities<Activities>({
  ...options,
  startToCloseTimeout: '2 minutes',
});

/**
 * Makes tables from a file: a faithful copy of each sheet, then, if wanted, structured tables that replace it. Each step is
 * recorded in the transaction of its effect, so a step that runs again finds that it is done.
 */
export async function ingest(jobId: string): Promise<string> {
  try {
    try {
      if ((await landRaw(jobId)) === 'over') return 'landed';
    } catch (error) {
      if (isCancellation(error)) throw error;
      await failIngest(jobId);
      return 'failed';
    }
    try {
      if ((await structure(jobId)) === 'over') return 'fell back';
    } catch (error) {
      if (isCancellation(error)) throw error;
      await fallBackIngest(jobId, 'failed:internal error');
      return 'fell back';
    }
    await promote(jobId);
    return 'promoted';
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => abandonIngest(jobId));
    return 'cancelled';
  }
}
