import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const { sampleUsage: sample } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
});

/** Writes down what every account stores. Scheduled; returns how many accounts there were. */
export async function sampleUsage(): Promise<number> {
  let accounts = 0;
  for (let after: string | null = ''; after !== null; ) {
    const part: { accounts: number; next: string | null } = await sample(after);
    accounts += part.accounts;
    after = part.next;
  }
  return accounts;
}
