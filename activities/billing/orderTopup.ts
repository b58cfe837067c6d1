import { autoTopup, currency, priceCredits } from '../../core/credits/priceList.ts';
import { findAccount } from '../../store/pg/accounts.ts';
import { type BillingProfile, findProfile } from '../../store/pg/billing.ts';
import { insertCharge } from '../../store/pg/charges.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { makeId } from '../../store/services.ts';

export interface AutoTopup {
  enabled: boolean;
  amount: number;
  threshold: number;
}

export const describeTopup = (profile: BillingProfile | null): AutoTopup => ({
  enabled: profile?.autoTopup ?? false,
  amount: profile?.topupAmount ?? autoTopup.amount,
  threshold: profile?.topupThreshold ?? autoTopup.threshold,
});

/** Makes a recharge due where few credits remain and it is wanted, one at a time. Returns whether it did. */
export async function orderTopup(tx: Tx, accountId: string, remaining: number, cause: string): Promise<boolean> {
  const { enabled, amount: credits, threshold } = describeTopup(await findProfile(tx.orm, accountId));
  if (!enabled || remaining >= threshold || !(await findAccount(tx.orm, accountId))) return false;
  const amount = priceCredits(credits, autoTopup);
  return insertCharge(tx, { id: makeId('chg'), accountId, kind: 'auto_topup', cause, credits, amount, currency });
}
