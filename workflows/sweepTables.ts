import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { sweepTables: sweep } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 5 },
});

/** Starts the compaction of every table that needs it. Scheduled; returns how many there were. */
export async function sweepTables(): Promise<number> {
  return sweep();
}
