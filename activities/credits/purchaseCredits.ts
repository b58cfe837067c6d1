import { purchaseKey } from '../../core/credits/books.ts';
import { planPurchase } from '../../core/credits/planPurchase.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { hasMovement, insertMovements, lockBooks } from '../../store/pg/credits.ts';

/** Adds purchased credits, once per payment. Returns false if the payment is booked already. */
export async function purchaseCredits(tx: Tx, purchase: { accountId: string; ref: string; amount: number }): Promise<boolean> {
  const { accountId, ref, amount } = purchase;
  const [books] = await lockBooks(tx, [accountId]);
  const movements = planPurchase(books?.overage ?? [], ref, amount);
  if (await hasMovement(tx, accountId, purchaseKey(ref))) return false;
  await insertMovements(tx, [{ accountId, movements }]);
  return true;
}
