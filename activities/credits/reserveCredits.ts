import { planReservation, type Reservation } from '../../core/credits/planReservation.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockJobBooks } from '../../store/pg/credits.ts';

/**
 * Holds credits for a job before its work begins. Asked again it changes nothing, whatever the amount: a job has one price.
 * The account's lock is held until the transaction ends; so take it after the locks of tables.
 */
export async function reserveCredits(tx: Tx, reservation: Reservation & { accountId: string }): Promise<'reserved' | 'no_credits'> {
  const { accountId, jobId } = reservation;
  const { books, held } = await lockJobBooks(tx, accountId, jobId);
  const { outcome, movements } = planReservation(books, held, reservation, tx.at);
  // Going on would be work that nobody pays for.
  if (outcome === 'released') throw new Error(`The credits that ${jobId} had reserved were given back; new work needs a new job.`);
  await insertMovements(tx, [{ accountId, movements }]);
  return outcome;
}
