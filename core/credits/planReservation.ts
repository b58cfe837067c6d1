import {
  type Books,
  checkAmount,
  type HeldCredits,
  type Lot,
  type Movement,
  monthOfBooks,
  type OverageLot,
  reserveKey,
  type Shift,
} from './books.ts';
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
  /** Credits that are left after it; negative in overage. */
  remaining: number;
}

/** What is left in a month, given as 202611; negative in overage. */
export function countRemaining({ lots, overage }: Pick<Books, 'lots' | 'overage'>, month: number): number {
  return lots.reduce((sum, { ends, available }) => sum + (ends < month ? 0 : available), 0) - sumOwed(overage);
}

const sumOwed = (overage: OverageLot[]) => overage.reduce((sum, { reserved, spent }) => sum + reserved + spent, 0);

/**
 * Reserves credits for a job; `held` is its existing reservation. Repeating it changes nothing, even with another amount: a job
 * has one price.
 */
export function planReservation(books: Books, held: HeldCredits | null, wanted: Reservation, at: Date): PlannedReservation {
  checkAmount(wanted.amount);
  if (held) {
    const remaining = countRemaining(books, monthOfBooks(books.lots, at));
    return { outcome: held.closed === 'release' ? 'released' : 'reserved', movements: [], remaining };
  }
  const { month, movements, lots } = planMonth(books, at);
  const remaining = countRemaining({ lots, overage: books.overage }, month);
  const usable = lots.filter(({ ends }) => ends >= month);
  const missing = Math.max(0, wanted.amount - usable.reduce((sum, { available }) => sum + available, 0));
  if (!wanted.unlimited && missing > 0 && sumOwed(books.overage) + missing > books.ceiling)
    return { outcome: 'no_credits', movements, remaining };
  const { jobId, workbookId } = wanted;
  const granted: Movement[] = [];
  const overrun: Shift[] = [];
  if (missing > 0 && wanted.unlimited) {
    const shift: Shift = { source: 'included', ends: month, from: 'issued', to: 'available', amount: missing };
    granted.push({ key: `grant:${jobId}`, kind: 'grant', ref: jobId, workbookId, shifts: [shift] });
    usable.push({ source: 'included', ends: month, available: missing });
  } else if (missing > 0) overrun.push({ source: 'overage', ends: month, from: 'issued', to: 'reserved', amount: missing });
  const shifts = [...takeCredits(mergeLots(usable), wanted.amount), ...overrun];
  return {
    outcome: 'reserved',
    movements: [...movements, ...granted, { key: reserveKey(jobId), kind: 'reserve', ref: jobId, workbookId, shifts }],
    remaining: remaining - wanted.amount,
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

/** Takes included credits before purchased ones, and earlier expiry first. No more than there is. */
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
