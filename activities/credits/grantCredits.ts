import { type Actor, commit } from '../../store/pg/commit.ts';
import { listAccountsWithoutGrant } from '../../store/pg/credits.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { grantMonth } from './grantMonth.ts';

export interface GrantLimits {
  /** Accounts per transaction, which locks them. */
  accountsAtATime: number;
  /** Batches per call of the activity. */
  batches: number;
}

const usual: GrantLimits = { accountsAtATime: 100, batches: 50 };
const actor: Actor = { name: 'system', userId: null, credential: 'none', requestId: 'grant-credits' };

export interface GrantedCredits {
  /** How many accounts got their credits now. */
  accounts: number;
  /** Where to continue; null at the end. */
  next: string | null;
}

/**
 * Brings the books of accounts to this month: grants the plan's credits, expires what is left of earlier months. Any
 * reservation does the same for its account first, so this can be repeated or interrupted anywhere.
 */
export async function grantCredits(services: Services, after: string, activity: ActivityContext, limits = usual): Promise<GrantedCredits> {
  const total: GrantedCredits = { accounts: 0, next: after };
  for (let batch = 0; batch < limits.batches && total.next !== null; batch += 1) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    const ids = await listAccountsWithoutGrant(services.db.pool, total.next, limits.accountsAtATime, new Date());
    if (ids.length > 0)
      await commit(
        services,
        actor,
        (tx) => grantMonth(tx, ids),
        async () => {},
      );
    total.accounts += ids.length;
    total.next = ids.length < limits.accountsAtATime ? null : (ids.at(-1) ?? null);
  }
  return total;
}
