import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

/** A provider that does not answer is asked again for an hour; after that the clock starts it anew. */
const { payCharges: pay } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 60 },
});

/** Charges what an account has to pay. Returns how many charges there were. */
export async function payCharges(accountId: string): Promise<number> {
  return pay(accountId);
}
