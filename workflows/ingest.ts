import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const options = { heartbeatTimeout: '30 seconds', retry: { initialInterval: '1 second', maximumInterval: '30 seconds' } } as const;
const { landRaw, structure } = proxyActivities<Activities>({
  ...options,
  startToCloseTimeout: '30 minutes',
  retry: { ...options.retry, maximumAttempts: 5 },
});
// What only writes to the database goes on until it is done: everything else waits for it.
const { promote, fallBackIngest, failIngest, abandonIngest } = proxyActivities<Activities>({
  ...options,
  startToCloseTimeout: '2 minutes',
});

/**
 * From a file to tables: a faithful copy of each sheet, then, where it is wanted, the structured tables that take its
 * place. Each step is written down with its effect, so a step that is run again finds that it was done.
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
