import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { walkAccounts } from './walkAccounts.ts';

const { settlePeriods: settle, startPayments } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

/** Closes billing periods that are over and charges what they cost. Scheduled; returns how many accounts there were. */
export async function settlePeriods(): Promise<number> {
  return walkAccounts(settle, startPayments);
}
