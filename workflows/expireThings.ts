import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { expireThings: sweep } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

/** Removes what has expired. Scheduled; returns how much of each kind was removed. */
export async function expireThings(): Promise<Record<string, number>> {
  return sweep();
}
