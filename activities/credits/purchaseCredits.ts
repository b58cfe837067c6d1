import type { Tx } from '../../store/pg/commit.ts';
import { insertPurchase } from '../../store/pg/credits.ts';

/** Adds bought credits, once for each payment; they last until they are spent. False when the payment is known already. */
export async function purchaseCredits(tx: Tx, purchase: { accountId: string; ref: string; amount: number }): Promise<boolean> {
  if (!Number.isSafeInteger(purchase.amount) || purchase.amount < 1) throw new RangeError(`not an amount of credits: ${purchase.amount}`);
  return insertPurchase(tx, purchase);
}
