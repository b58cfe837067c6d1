import { planMonth } from '../../core/credits/planMonth.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockBooks } from '../../store/pg/credits.ts';

/** Grants this month's credits and expires those of earlier months. Does nothing for accounts that have them. */
export async function grantMonth(tx: Tx, accountIds: string[]): Promise<void> {
  const books = await lockBooks(tx, accountIds);
  await insertMovements(
    tx,
    books.map((each) => ({ accountId: each.accountId, movements: planMonth(each, tx.at).movements })),
  );
}
