import { type Books, checkAmount, type HeldCredits, type Lot, type Movement, reserveKey, type Shift } from './books.ts';
import { planMonth } from './planMonth.ts';

export interface Reservation {
  workbookId: string | null;
  jobId: string;
  amount: number;
  /** Grants what is missing, so that usage is recorded but nothing is refused. */
  unlimited?: boolean;
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
  const usable = lots.filter(({ ends }) => ends >= month);
  const missing = wanted.amount - usable.reduce((sum, { available }) => sum + available, 0);
  if (missing > 0 && !wanted.unlimited) return { outcome: 'no_credits', movements };
  const { jobId, workbookId } = wanted;
  const granted: Movement[] = [];
  if (missing > 0) {
    const shift: Shift = { source: 'included', ends: month, from: 'issued', to: 'available', amount: missing };
    granted.push({ key: `grant:${jobId}`, kind: 'grant', ref: jobId, workbookId, shifts: [shift] });
    usable.push({ source: 'included', ends: month, available: missing });
  }
  const shifts = takeCredits(mergeLots(usable), wanted.amount);
  return {
    outcome: 'reserved',
    movements: [...movements, ...granted, { key: reserveKey(jobId), kind: 'reserve', ref: jobId, workbookId, shifts }],
  };
}

/** A movement names each lot once. */
function mergeLots(lots: Lot[]): Lot[] {
  const merged = new Map<string, Lot>();
  for (const lot of lots) {
    const key = `${lot.source} ${lot.ends}`;
    merged.set(key, { ...lot, available: lot.available + (merged.get(key)?.available ?? 0) });
  }
  return [...merged.values()];
}

/** Takes included credits before purchased ones, and earlier expiry first. There must be enough. */
function takeCredits(lots: Lot[], amount: number): Shift[] {
  let missing = amount;
  const shifts: Shift[] = [];
  for (const { source, ends, available } of [...lots].sort(bySpending)) {
    const taken = Math.min(missing, available);
    if (taken > 0) shifts.push({ source, ends, from: 'available', to: 'reserved', amount: taken });
    missing -= taken;
  }
  return shifts;
}

function bySpending(a: Lot, b: Lot): number {
  if (a.source !== b.source) return a.source === 'included' ? -1 : 1;
  return a.ends - b.ends;
}
