/** How many more rows may be listed that formulas of a file add up. */
export interface SumBudget {
  terms: number;
}

/** Running totals over a thousand rows list half a million; what goes beyond is left to the numbers. */
const MAX_TERMS = 2_000_000;

export function openSumBudget(): SumBudget {
  return { terms: MAX_TERMS };
}
