import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { walkAccounts } from './walkAccounts.ts';

const { orderTopups: order, startPayments } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

/** Recharges accounts that have too little, and charges whatever is left unpaid. Scheduled; returns how many accounts were low. */
export async function rechargeCredits(): Promise<number> {
  return walkAccounts(order, startPayments);
}
