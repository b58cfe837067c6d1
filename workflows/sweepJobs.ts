import { isCancellation, proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { sweepJobs: sweep } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 5 },
});

export interface SweepRounds {
  everySeconds: number;
  forSeconds: number;
}

/**
 * Starts jobs that were not started, and ends those whose workflow was stopped; returns how many there were. Scheduled, in
 * rounds: one run that sleeps between its sweeps, since a run for each sweep would fill Temporal's list. Without rounds it
 * sweeps once.
 */
export async function sweepJobs(rounds?: SweepRounds): Promise<number> {
  if (!rounds) return sweep();
  const { everySeconds, forSeconds } = rounds;
  let found = 0;
  for (const until = Date.now() + forSeconds * 1000; ; await sleep(everySeconds * 1000)) {
    try {
      found += await sweep();
    } catch (error) {
      // The next round tries again.
      if (isCancellation(error)) throw error;
    }
    if (Date.now() + everySeconds * 1000 > until) return found;
  }
}
