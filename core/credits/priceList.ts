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

/** What a plan includes for an account. */
export function countIncluded(plan: Plan, kind: AccountKind): number {
  return listGrantingPlans(kind).includes(plan) ? plans[plan].includedCredits : 0;
}

/** What it gets when a month begins: nothing of a subscription that is past due, until that is paid. */
export function countMonthly({ plan, kind, planStatus }: { plan: Plan; kind: AccountKind; planStatus: string }): number {
  return plans[plan].isPaid && planStatus === 'past_due' ? 0 : countIncluded(plan, kind);
}

/** What a review with a language model costs: `agent` lets it look at the tables, `judge` lets it weigh findings. */
export const reviewCredits = { agent: 10, judge: 1 } as const;

export type PaidPlan = 'solo' | 'pro';
export type Interval = 'monthly' | 'annual';

/** Prices are in yen, which have no smaller unit. */
export const currency = 'jpy';

/** What a subscription costs for each of its periods. */
export const subscriptionPrices: Record<PaidPlan, Record<Interval, number>> = {
  solo: { monthly: 2_980, annual: 29_800 },
  pro: { monthly: 9_800, annual: 98_000 },
};

/** Prepaid credits, which never expire. */
export const packs = {
  small: { credits: 1_000, price: 1_200 },
  medium: { credits: 5_000, price: 5_500 },
  large: { credits: 20_000, price: 20_000 },
} as const;

export type Pack = keyof typeof packs;

/**
 * What auto-recharge does unless told otherwise, and what a credit costs that it buys. The least amount is above what card payments
 * have to be at least (50 yen at Stripe); the contract has it as well.
 */
export const autoTopup = { amount: 5_000, leastAmount: 100, threshold: 1_000, pricePerCredit: 1.1 } as const;

/**
 * Work beyond the credits, which pay-as-you-go allows. `mostCredits` is how far: with what the plan includes and what was bought it
 * is the metering ceiling, so a pack raises that. At the period's end it is charged, unless it is less than the floor.
 */
export const overage = { mostCredits: 5_000, pricePerCredit: 1.2, settlementFloor: 500 } as const;

/** What so many credits cost, rounded to whole yen. */
export const priceCredits = (credits: number, { pricePerCredit }: { pricePerCredit: number }): number =>
  Math.round(credits * pricePerCredit);

/** How long a subscription stays whose renewal is declined, tried again every day. */
export const renewalGraceDays = 14;

const structuring = { cellsPerCredit: 20_000, leastCredits: 1 } as const;

/** One credit for every started 20,000 non-empty cells. */
export function priceStructuring(cells: number): number {
  if (!Number.isSafeInteger(cells) || cells < 0) throw new RangeError(`not a number of cells: ${cells}`);
  return Math.max(structuring.leastCredits, Math.ceil(cells / structuring.cellsPerCredit));
}
