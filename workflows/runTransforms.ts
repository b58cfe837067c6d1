import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { runTransform, rerunTransform } = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 5 },
});
const { beginRuns, giveUpRun, finishTransformJob, failTransformJob } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Fewer than a user may let wait for query processes. */
const mostAtOnce = 8;

/** Runs a transform: first what it is made from, as far as that is stale, and then what is made from its output. */
export async function transform(jobId: string): Promise<string> {
  return endWell(jobId, async () => {
    let step = await runTransform(jobId);
    for (; step.state === 'waits'; step = await runTransform(jobId)) await rerunAll(jobId, step.next);
    if (step.state === 'over') return step.end;
    await rerunAll(jobId, step.next);
    await finishTransformJob(jobId);
    return 'ran';
  });
}

/** Runs the transforms behind all stale tables of a workbook. */
export async function recompute(jobId: string): Promise<string> {
  return endWell(jobId, async () => {
    await rerunAll(jobId, await beginRuns(jobId));
    await finishTransformJob(jobId);
    return 'recomputed';
  });
}

/** Runs the transforms behind the derived tables that a restore has left stale. */
export const restore = recompute;

/** Each once, as soon as what it is made from is done, some at a time. The end of each run tells which can be run next. */
async function rerunAll(jobId: string, first: string[]): Promise<void> {
  const begun = new Set<string>();
  const running = new Set<Promise<void>>();
  const begin = (ready: string[]) => {
    const chosen = ready.filter((id) => !begun.has(id)).slice(0, mostAtOnce - running.size);
    const isAlone = running.size === 0 && chosen.length === 1;
    for (const transformId of chosen) {
      begun.add(transformId);
      const run = rerun(jobId, transformId, isAlone).then((next) => {
        running.delete(run);
        begin(next);
      });
      running.add(run);
    }
  };
  begin(first);
  while (running.size > 0) await Promise.race(running);
}

async function rerun(jobId: string, transformId: string, isAlone: boolean): Promise<string[]> {
  try {
    return await rerunTransform(jobId, transformId, isAlone);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return giveUpRun(jobId, transformId);
  }
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
