import { planReservation, type Reservation } from '../../core/credits/planReservation.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockJobBooks } from '../../store/pg/credits.ts';

/**
 * Reserves credits for a job before its work begins. Repeating it changes nothing, even with another amount: a job has one
 * price. Holds the account's lock until the transaction ends, so call it after locking tables.
 */
export async function reserveCredits(tx: Tx, reservation: Reservation & { accountId: string }): Promise<'reserved' | 'no_credits'> {
  const { accountId, jobId } = reservation;
  const { books, held } = await lockJobBooks(tx, accountId, jobId);
  const { outcome, movements } = planReservation(books, held, reservation, tx.at);
  // Continuing would be unpaid work.
  if (outcome === 'released') throw new Error(`The credits that ${jobId} had reserved were given back; new work needs a new job.`);
  await insertMovements(tx, [{ accountId, movements }]);
  return outcome;
}
