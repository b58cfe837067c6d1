import type { Tx } from '../../store/pg/commit.ts';
import { insertReservation, type Reservation } from '../../store/pg/credits.ts';

/**
 * Holds credits for a job before its work begins. Asked again it changes nothing, whatever the amount: a job has one price.
 * The account's lock is held until the transaction ends; so take it after the locks of tables.
 */
export async function reserveCredits(tx: Tx, reservation: Reservation): Promise<'reserved' | 'no_credits'> {
  const { jobId, amount } = reservation;
  if (!Number.isSafeInteger(amount) || amount < 1) throw new RangeError(`not an amount of credits: ${amount}`);
  const outcome = await insertReservation(tx, reservation);
  // Going on would be work that nobody pays for.
  if (outcome === 'released') throw new Error(`The credits that ${jobId} had reserved were given back; new work needs a new job.`);
  return outcome;
}
