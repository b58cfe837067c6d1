import { type Actor, commit } from '../../store/pg/commit.ts';
import { listAccountsWithoutGrant } from '../../store/pg/credits.ts';
import type { Services } from '../../store/services.ts';
import type { Pulse } from '../pulse.ts';
import { grantMonth } from './grantMonth.ts';

export interface GrantLimits {
  /** In one transaction, which holds their locks. */
  accountsAtATime: number;
  /** In one call of the activity. */
  batches: number;
}

const usual: GrantLimits = { accountsAtATime: 100, batches: 50 };
const actor: Actor = { name: 'system', userId: null, credential: 'none', requestId: 'grant-credits' };

export interface GrantedCredits {
  /** Accounts that the month was new to. */
  accounts: number;
  /** Where to go on; null at the end. */
  next: string | null;
}

/**
 * Brings the books of accounts to this month: the plan's credits come, what is left of the month before goes. An account that
 * has work done before this reaches it is brought there by that; so it is safe to repeat, and to cut off anywhere.
 */
export async function grantCredits(services: Services, after: string, pulse: Pulse, limits = usual): Promise<GrantedCredits> {
  const total: GrantedCredits = { accounts: 0, next: after };
  for (let batch = 0; batch < limits.batches && total.next !== null; batch += 1) {
    pulse.heartbeat();
    pulse.signal?.throwIfAborted();
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
