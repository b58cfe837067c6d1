import type { ActivityContext } from './activityContext.ts';

export interface Walked {
  accounts: number;
  /** Where to continue; null at the end. */
  next: string | null;
}

export interface WalkLimits {
  accountsAtATime: number;
  /** Batches per call of the activity. */
  batches: number;
}

const usual: WalkLimits = { accountsAtATime: 100, batches: 50 };

/** Works on the accounts that are listed after an id, some at a time. Can be repeated or interrupted where the work can. */
export async function walkAccounts(
  after: string,
  activity: ActivityContext,
  list: (after: string, limit: number) => Promise<string[]>,
  work: (accountIds: string[]) => Promise<unknown>,
  { accountsAtATime, batches } = usual,
): Promise<Walked> {
  const walked: Walked = { accounts: 0, next: after };
  for (let batch = 0; batch < batches && walked.next !== null; batch += 1) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    const ids = await list(walked.next, accountsAtATime);
    if (ids.length > 0) await work(ids);
    walked.accounts += ids.length;
    walked.next = ids.length < accountsAtATime ? null : (ids.at(-1) ?? null);
  }
  return walked;
}

/** The same, one account after another. */
export async function walkEach(
  after: string,
  activity: ActivityContext,
  list: (after: string, limit: number) => Promise<string[]>,
  work: (accountId: string) => Promise<unknown>,
): Promise<Walked> {
  return walkAccounts(after, activity, list, async (ids) => {
    for (const id of ids) {
      activity.heartbeat();
      activity.signal?.throwIfAborted();
      await work(id);
    }
  });
}
