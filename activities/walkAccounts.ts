import { PartAwayError } from '../core/errors.ts';
import { explainAway } from '../store/explainAway.ts';
import type { ActivityContext } from './activityContext.ts';

export interface Walked {
  accounts: number;
  /** Where to continue; null at the end. */
  next: string | null;
  /** What went wrong with single accounts, which did not keep the others waiting. The workflow fails with them at its end. */
  failures?: string[];
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

/** So many accounts do not fail each for a reason of its own. */
const mostFailures = 20;

/** The same, one account after another. One that fails does not stop those after it. */
export async function walkEach(
  after: string,
  activity: ActivityContext,
  list: (after: string, limit: number) => Promise<string[]>,
  work: (accountId: string) => Promise<unknown>,
): Promise<Walked> {
  const failures: string[] = [];
  const walked = await walkAccounts(after, activity, list, async (ids) => {
    for (const id of ids) {
      activity.heartbeat();
      activity.signal?.throwIfAborted();
      try {
        await work(id);
      } catch (error) {
        failures.push(`${id}: ${error instanceof Error ? error.message : String(error)}`);
        if (explainAway(error) instanceof PartAwayError || failures.length === mostFailures) throw error;
      }
    }
  });
  return { ...walked, failures };
}
