import type { HeldCredits } from '../../core/credits/books.ts';
import { planClosing } from '../../core/credits/planClosing.ts';
import { planCoverAfter } from '../../core/credits/planCover.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockJobBooks } from '../../store/pg/credits.ts';

/** Ends a job's reservation unless it has ended already (then `closed` says how). Null: the job has none. */
export async function closeReservation(tx: Tx, jobId: string, accountId: string, kind: 'settle' | 'release'): Promise<HeldCredits | null> {
  const { books, held } = await lockJobBooks(tx, accountId, jobId);
  const movement = held && planClosing(books.lots, held, jobId, kind, tx.at);
  if (!movement) return held;
  const cover = planCoverAfter(books, movement);
  await insertMovements(tx, [{ accountId, movements: cover ? [movement, cover] : [movement] }]);
  return held;
}
