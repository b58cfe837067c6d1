import { type Books, checkAmount, type HeldCredits, type Lot, type Movement, reserveKey, type Shift } from './books.ts';
import { planMonth } from './planMonth.ts';

export interface Reservation {
  workbookId: string | null;
  jobId: string;
  amount: number;
}

export interface PlannedReservation {
  /** `released`: the job's reservation was already released. */
  outcome: 'reserved' | 'no_credits' | 'released';
  /** May be non-empty for `no_credits` too: bringing the books to the current month is booked anyway. */
  movements: Movement[];
}

/**
 * Reserves credits for a job; `held` is its existing reservation. Repeating it changes nothing, even with another amount: a job
 * has one price.
 */
export function planReservation(books: Books, held: HeldCredits | null, wanted: Reservation, at: Date): PlannedReservation {
  checkAmount(wanted.amount);
  if (held) return { outcome: held.closed === 'release' ? 'released' : 'reserved', movements: [] };
  const { month, movements, lots } = planMonth(books, at);
  const shifts = takeCredits(
    lots.filter(({ ends }) => ends >= month),
    wanted.amount,
  );
  if (!shifts) return { outcome: 'no_credits', movements };
  const { jobId, workbookId } = wanted;
  return {
    outcome: 'reserved',
    movements: [...movements, { key: reserveKey(jobId), kind: 'reserve', ref: jobId, workbookId, shifts }],
  };
}

/** Takes included credits before purchased ones, and earlier expiry first. Null: not enough credits. */
function takeCredits(lots: Lot[], amount: number): Shift[] | null {
  let missing = amount;
  const shifts: Shift[] = [];
  for (const { source, ends, available } of [...lots].sort(bySpending)) {
    const taken = Math.min(missing, available);
    if (taken > 0) shifts.push({ source, ends, from: 'available', to: 'reserved', amount: taken });
    missing -= taken;
  }
  return missing > 0 ? null : shifts;
}

function bySpending(a: Lot, b: Lot): number {
  if (a.source !== b.source) return a.source === 'included' ? -1 : 1;
  return a.ends - b.ends;
}
