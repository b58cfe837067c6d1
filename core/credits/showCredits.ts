import type { Source } from './books.ts';
import { type Plan, plans } from './priceList.ts';

/** An account's credits as people see them. `included + purchased - used = remaining`, always. */
export interface Credits {
  /** What the plan brings this month. */
  included: number;
  /** What was bought and could still be spent this month: what is left of it and what was used of it since the month began. */
  purchased: number;
  /** Spent this month or held for work that is under way. */
  used: number;
  remaining: number;
}

/** A lot that can be spent this month. */
export interface LotBalances {
  source: Source;
  available: number;
  reserved: number;
  spent: number;
  /** How much of `spent` was spent before the month began. */
  spentBefore: number;
}

/** A month that nothing has happened in yet has no grant in the books, and is shown as if it had. */
export function showCredits(plan: Plan, lots: LotBalances[]): Credits {
  // The plan's credits are of this month, however early the transaction began that spent them.
  const counted = lots.map(({ source, available, reserved, spent, spentBefore }) => ({
    source,
    available,
    used: reserved + spent - (source === 'purchased' ? spentBefore : 0),
  }));
  if (!counted.some(({ source }) => source === 'included'))
    counted.push({ source: 'included', available: plans[plan].includedCredits, used: 0 });
  const sum = (of: (lot: (typeof counted)[number]) => number) => counted.reduce((total, lot) => total + of(lot), 0);
  const sumOf = (source: Source) => sum((lot) => (lot.source === source ? lot.available + lot.used : 0));
  return { included: sumOf('included'), purchased: sumOf('purchased'), used: sum(({ used }) => used), remaining: sum((l) => l.available) };
}
