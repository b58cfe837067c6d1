import { planBilling } from '../../core/credits/planBilling.ts';
import { currency, overage, priceCredits } from '../../core/credits/priceList.ts';
import { overageBilled } from '../../core/journal/billingNotes.ts';
import { dayOf } from '../../core/usage/days.ts';
import { lockBilling, putProfile } from '../../store/pg/billing.ts';
import { insertCharge, listAccountsToSettle } from '../../store/pg/charges.ts';
import { commit, type Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockBooks } from '../../store/pg/credits.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { type Walked, walkEach } from '../walkAccounts.ts';
import { billingActor } from './billingActor.ts';
import { settleSubscription } from './settleSubscription.ts';

/** Closes periods that are over and makes due what they cost. Finds what earlier runs missed, and nothing twice. */
export async function settlePeriods(services: Services, after: string, activity: ActivityContext): Promise<Walked> {
  const list = (from: string, limit: number) => listAccountsToSettle(services.db.pool, from, limit, new Date());
  return walkEach(after, activity, list, async (accountId) => {
    await commit(services, billingActor('settle-periods'), (tx) => settleAccount(services, tx, accountId));
  });
}

/** Overage below the floor is carried on as arrears; from the floor on it is charged, at most once a day. */
export async function settleAccount({ payments }: Pick<Services, 'payments'>, tx: Tx, accountId: string): Promise<void> {
  const found = await lockBilling(tx, accountId);
  if (!found?.profile) return;
  const { account, profile } = found;
  if (!payments.renewsItself) await settleSubscription(tx, account, profile);
  const [books] = await lockBooks(tx, [accountId]);
  if (!books) return;
  const billed = planBilling(books, tx.at);
  const arrears = profile.arrears + billed.credits;
  if (billed.credits > 0) {
    await insertMovements(tx, [{ accountId, movements: billed.movements }]);
    await putProfile(tx, accountId, { arrears });
    tx.note(accountId, overageBilled(accountId, billed.credits));
  }
  if (arrears < overage.settlementFloor) return;
  const [cause, amount] = [`settlement:${dayOf(tx.at)}`, priceCredits(arrears, overage)];
  await insertCharge(tx, { id: makeId('chg'), accountId, kind: 'settlement', cause, credits: arrears, amount, currency });
}
