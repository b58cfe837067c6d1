import type { Source } from './books.ts';

/** An account's credits as shown to people. Always `included + purchased - used = remaining`. */
export interface Credits {
  /** What the plan includes this month. */
  included: number;
  /** Purchased credits that could be spent this month: those that are left, and those used since the month began. */
  purchased: number;
  /** Spent this month, or reserved for running jobs. */
  used: number;
  remaining: number;
}

/** A lot that has not expired. */
export interface LotBalances {
  source: Source;
  available: number;
  reserved: number;
  spent: number;
  /** The part of `spent` from before this month. */
  spentBefore: number;
}

/** `included`: what the account gets this month. Before the first movement of the month it is not booked yet, but is shown. */
export function showCredits(included: number, lots: LotBalances[]): Credits {
  // Included credits always count for this month, even if the transaction that spent them began earlier.
  const counted = lots.map(({ source, available, reserved, spent, spentBefore }) => ({
    source,
    available,
    used: reserved + spent - (source === 'purchased' ? spentBefore : 0),
  }));
  if (!counted.some(({ source }) => source === 'included')) counted.push({ source: 'included', available: included, used: 0 });
  const sum = (of: (lot: (typeof counted)[number]) => number) => counted.reduce((total, lot) => total + of(lot), 0);
  const sumOf = (source: Source) => sum((lot) => (lot.source === source ? lot.available + lot.used : 0));
  return { included: sumOf('included'), purchased: sumOf('purchased'), used: sum(({ used }) => used), remaining: sum((l) => l.available) };
}
