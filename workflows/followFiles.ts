import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { followFiles: look } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '10 seconds', maximumInterval: '5 minutes', maximumAttempts: 5 },
});

/** Looks at drive files that are followed. Scheduled; returns how many were looked at. */
export async function followFiles(): Promise<number> {
  return look();
}
