import { planMonth } from '../../core/credits/planMonth.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockBooks } from '../../store/pg/credits.ts';

/** This month's grant, and the end of what was left of the months before; nothing for accounts that have it. */
export async function grantMonth(tx: Tx, accountIds: string[]): Promise<void> {
  const books = await lockBooks(tx, accountIds);
  await insertMovements(
    tx,
    books.map((each) => ({ accountId: each.accountId, movements: planMonth(each, tx.at).movements })),
  );
}
