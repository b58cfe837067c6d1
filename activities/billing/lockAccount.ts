import { notFound } from '../../core/errors.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import { type BillingProfile, lockBilling } from '../../store/pg/billing.ts';
import type { Tx } from '../../store/pg/commit.ts';

/** The account and how it pays, as they are until the transaction ends. */
export async function lockAccount(tx: Tx, accountId: string): Promise<{ account: AccountRecord; profile: BillingProfile | null }> {
  const found = await lockBilling(tx, accountId);
  if (!found) throw notFound('account');
  return found;
}
