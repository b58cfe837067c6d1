import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { grantCredits: grant } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

/** Grants the month's credits to accounts that are not active. Scheduled; returns how many accounts got them. */
export async function grantCredits(): Promise<number> {
  let accounts = 0;
  for (let after: string | null = ''; after !== null; ) {
    const part: { accounts: number; next: string | null } = await grant(after);
    accounts += part.accounts;
    after = part.next;
  }
  return accounts;
}
