import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const steps = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 5 },
});
const { failSourceJob } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** Proposes the parse spec of a source. */
export const analyze = workOnSource('analyzeSource', 'analyzed');

/** Makes tables from regions of a source, or appends their rows to one. */
export const materialize = workOnSource('materializeSource', 'materialized');

/**
 * Runs a job of one step on a source. If the step fails or is cancelled, the job ends and the source returns to its former
 * status.
 */
function workOnSource(step: 'analyzeSource' | 'materializeSource', outcome: string): (jobId: string) => Promise<string> {
  return async (jobId) => {
    try {
      await steps[step](jobId);
      return outcome;
    } catch (error) {
      const reason = isCancellation(error) ? 'cancelled' : 'failed';
      await CancellationScope.nonCancellable(() => failSourceJob(jobId, reason));
      return reason;
    }
  };
}
