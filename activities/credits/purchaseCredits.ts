import { planPurchase } from '../../core/credits/planPurchase.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { hasMovement, insertMovements, lockBooks } from '../../store/pg/credits.ts';

/** Adds purchased credits, once per payment. Returns false if the payment is booked already. */
export async function purchaseCredits(tx: Tx, purchase: { accountId: string; ref: string; amount: number }): Promise<boolean> {
  const { accountId, ref, amount } = purchase;
  const movement = planPurchase(ref, amount);
  await lockBooks(tx, [accountId]);
  if (await hasMovement(tx, accountId, movement.key)) return false;
  await insertMovements(tx, [{ accountId, movements: [movement] }]);
  return true;
}
