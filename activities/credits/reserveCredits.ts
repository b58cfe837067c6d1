import { reserveKey } from '../../core/credits/books.ts';
import { planReservation, type Reservation } from '../../core/credits/planReservation.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertMovements, lockJobBooks } from '../../store/pg/credits.ts';
import { orderTopup } from '../billing/orderTopup.ts';

export interface PaidReservation extends Reservation {
  accountId: string;
  /** Called after the commit, when few credits remain and a recharge is due. */
  whenLow?: () => void;
}

/**
 * Reserves credits for a job before its work begins. Repeating it changes nothing, even with another amount: a job has one
 * price. Holds the account's lock until the transaction ends, so call it after locking tables.
 */
export async function reserveCredits(tx: Tx, reservation: PaidReservation): Promise<'reserved' | 'no_credits'> {
  const { accountId, jobId } = reservation;
  const { books, held } = await lockJobBooks(tx, accountId, jobId);
  const { outcome, movements, remaining } = planReservation(books, held, reservation, tx.at);
  // Continuing would be unpaid work.
  if (outcome === 'released') throw new Error(`The credits that ${jobId} had reserved were given back; new work needs a new job.`);
  await insertMovements(tx, [{ accountId, movements }]);
  if (!reservation.unlimited && (await orderTopup(tx, accountId, remaining, reserveKey(jobId))) && reservation.whenLow)
    tx.afterCommit(reservation.whenLow);
  return outcome;
}
