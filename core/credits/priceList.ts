/** The price list. One credit is one unit of structuring or agent work. */

/** What each plan includes per calendar month (UTC), and whether that is paid for. */
export const plans = {
  free: { includedCredits: 200, isPaid: false },
  payg: { includedCredits: 200, isPaid: false },
  solo: { includedCredits: 3_000, isPaid: true },
  pro: { includedCredits: 15_000, isPaid: true },
} as const;

export type Plan = keyof typeof plans;

/** A person has one default account, and any number of developer accounts. */
export type AccountKind = 'default' | 'developer';

/** The plans whose included credits an account of this kind gets. Unpaid ones are granted once per person, not once per account. */
export function listGrantingPlans(kind: AccountKind): Plan[] {
  return (Object.keys(plans) as Plan[]).filter((plan) => kind === 'default' || plans[plan].isPaid);
}

/** What an account gets each month. */
export function countIncluded(plan: Plan, kind: AccountKind): number {
  return listGrantingPlans(kind).includes(plan) ? plans[plan].includedCredits : 0;
}

/** What a review with a language model costs: `agent` lets it look at the tables, `judge` lets it weigh findings. */
export const reviewCredits = { agent: 10, judge: 1 } as const;

const structuring = { cellsPerCredit: 20_000, leastCredits: 1 } as const;

/** One credit for every started 20,000 non-empty cells. */
export function priceStructuring(cells: number): number {
  if (!Number.isSafeInteger(cells) || cells < 0) throw new RangeError(`not a number of cells: ${cells}`);
  return Math.max(structuring.leastCredits, Math.ceil(cells / structuring.cellsPerCredit));
}
