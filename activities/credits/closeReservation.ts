import type { HeldCredits } from '../../core/credits/books.ts';
import { planClosing } from '../../core/credits/planClosing.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockJobBooks } from '../../store/pg/credits.ts';

/** Ends a job's reservation unless it has ended already (then `closed` says how). Null: the job has none. */
export async function closeReservation(tx: Tx, jobId: string, accountId: string, kind: 'settle' | 'release'): Promise<HeldCredits | null> {
  const { books, held } = await lockJobBooks(tx, accountId, jobId);
  const movement = held && planClosing(books.lots, held, jobId, kind, tx.at);
  if (movement) await insertMovements(tx, [{ accountId, movements: [movement] }]);
  return held;
}
