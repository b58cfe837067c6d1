import type { Source } from './books.ts';

/** An account's credits as shown to people. Always `included + purchased - used = remaining`. */
export interface Credits {
  /** What the plan includes this month. */
  included: number;
  /** Purchased credits that could be spent this month: those that are left, those used since the month began, overage paid for. */
  purchased: number;
  /** Spent this month, or reserved for running jobs. */
  used: number;
  /** Negative: work ran over, and is owed. */
  remaining: number;
}

/** A lot that has not expired. */
export interface LotBalances {
  source: Source;
  available: number;
  reserved: number;
  spent: number;
  /** Of overage. */
  settled: number;
  /** The part of `spent` from before this month. */
  spentBefore: number;
}

/** `included`: what the account gets this month. Before the first movement of the month it is not booked yet, but is shown. */
export function showCredits(included: number, lots: LotBalances[]): Credits {
  const shown: Credits = { included: 0, purchased: 0, used: 0, remaining: 0 };
  if (!lots.some(({ source }) => source === 'included')) {
    shown.included = included;
    shown.remaining = included;
  }
  for (const { source, available, reserved, spent, settled, spentBefore } of lots) {
    if (source === 'overage') {
      // What was paid for is as good as bought.
      shown.purchased += settled;
      shown.used += reserved + spent + settled;
      shown.remaining -= reserved + spent;
      continue;
    }
    // Included credits always count for this month, even if the transaction that spent them began earlier.
    const used = reserved + spent - (source === 'purchased' ? spentBefore : 0);
    shown[source] += available + used;
    shown.used += used;
    shown.remaining += available;
  }
  return shown;
}
