/** The price list. One credit is one unit of structuring or agent work. */

/** What each plan includes per calendar month (UTC). */
export const plans = {
  free: { includedCredits: 200 },
  payg: { includedCredits: 200 },
  solo: { includedCredits: 3_000 },
  pro: { includedCredits: 15_000 },
} as const;

export type Plan = keyof typeof plans;

const structuring = { cellsPerCredit: 20_000, leastCredits: 1 } as const;

/** One credit for every started 20,000 non-empty cells. */
export function priceStructuring(cells: number): number {
  if (!Number.isSafeInteger(cells) || cells < 0) throw new RangeError(`not a number of cells: ${cells}`);
  return Math.max(structuring.leastCredits, Math.ceil(cells / structuring.cellsPerCredit));
}
