import { CancellationScope, isCancellation, patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const options = { heartbeatTimeout: '30 seconds', retry: { initialInterval: '1 second', maximumInterval: '30 seconds' } } as const;
const onFile = { ...options, startToCloseTimeout: '30 minutes' } as const;
const { landRaw, structure } = proxyActivities<Activities>({ ...onFile, retry: { ...options.retry, maximumAttempts: 5 } });
// Tried once: what it leaves is done step by step.
const { prepareTables } = proxyActivities<Activities>({ ...onFile, retry: { maximumAttempts: 1 } });
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
    const next = (patched('prepare tables at once') && (await prepareAtOnce(jobId))) || (await prepareInSteps(jobId));
    if (next !== 'promote') return next;
    await promote(jobId);
    return 'promoted';
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => abandonIngest(jobId));
    return 'cancelled';
  }
}

/** Both steps on the file in one activity: for a small file, handing over takes half as long as a step. Null: it failed. */
async function prepareAtOnce(jobId: string): Promise<string | null> {
  try {
    return await prepareTables(jobId);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return null;
  }
}

async function prepareInSteps(jobId: string): Promise<string> {
  try {
    if ((await landRaw(jobId)) === 'over') return 'landed';
  } catch (error) {
    if (isCancellation(error)) throw error;
    await failIngest(jobId);
    return 'failed';
  }
  try {
    return (await structure(jobId)) === 'over' ? 'fell back' : 'promote';
  } catch (error) {
    if (isCancellation(error)) throw error;
    await fallBackIngest(jobId, 'failed:internal error');
    return 'fell back';
  }
}
