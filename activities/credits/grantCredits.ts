import { type Actor, commit } from '../../store/pg/commit.ts';
import { listAccountsWithoutGrant } from '../../store/pg/credits.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { type Walked, type WalkLimits, walkAccounts } from '../walkAccounts.ts';
import { grantMonth } from './grantMonth.ts';

const actor: Actor = { name: 'system', userId: null, credential: 'none', requestId: 'grant-credits' };

/**
 * Brings the books of accounts to this month: grants the plan's credits, expires what is left of earlier months. Any
 * reservation does the same for its account first, so this can be repeated or interrupted anywhere.
 */
export async function grantCredits(services: Services, after: string, activity: ActivityContext, limits?: WalkLimits): Promise<Walked> {
  const list = (from: string, limit: number) => listAccountsWithoutGrant(services.db.pool, from, limit, new Date());
  // One transaction for each batch, which locks its accounts.
  const grant = (ids: string[]) => commit(services, actor, (tx) => grantMonth(tx, ids));
  return walkAccounts(after, activity, list, grant, limits);
}
