import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { rollUpUsage: rollUp } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

/** Rolls up the counts of all days that are over. Scheduled. */
export async function rollUpUsage(): Promise<void> {
  for (let place = await rollUp(null); place !== null; ) place = await rollUp(place);
}
