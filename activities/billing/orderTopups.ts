import { planMonth } from '../../core/credits/planMonth.ts';
import { countRemaining } from '../../core/credits/planReservation.ts';
import { listLowAccounts } from '../../store/pg/charges.ts';
import { commit, type Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockBooks } from '../../store/pg/credits.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { type Walked, walkEach } from '../walkAccounts.ts';
import { billingActor } from './billingActor.ts';
import { orderTopup } from './orderTopup.ts';

/** Makes recharges due that were missed: of work that was refused, of credits that expired, of a switch that was turned on. */
export async function orderTopups(services: Services, after: string, activity: ActivityContext): Promise<Walked> {
  // Nobody runs out of what is not counted.
  if (services.config.credits === 'unlimited') return { accounts: 0, next: null };
  const list = (from: string, limit: number) => listLowAccounts(services.db.pool, from, limit, new Date());
  return walkEach(after, activity, list, async (accountId) => {
    await commit(services, billingActor('recharge-credits'), (tx) => orderIfLow(tx, accountId));
  });
}

/** The month's credits come first: on its first day they may not be there yet. */
async function orderIfLow(tx: Tx, accountId: string): Promise<void> {
  const [books] = await lockBooks(tx, [accountId]);
  if (!books?.plan) return;
  const { month, movements, lots } = planMonth(books, tx.at);
  await insertMovements(tx, [{ accountId, movements }]);
  await orderTopup(tx, accountId, countRemaining({ lots, overage: books.overage }, month), makeId('evt'));
}
