import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { sweepJobs: sweep } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 5 },
});

/** Starts jobs that were not started, and ends those whose workflow was stopped. Scheduled; returns how many there were. */
export async function sweepJobs(): Promise<number> {
  return sweep();
}
