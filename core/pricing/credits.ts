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

/** What the books say of this month. `included` is null until the month's grant is in them. */
export type BookedCredits = Omit<Credits, 'included'> & { included: number | null };

/** A month that nothing has happened in yet has no grant in the books, and is shown as if it had. */
export function showCredits(plan: Plan, { included, purchased, used, remaining }: BookedCredits): Credits {
  if (included !== null) return { included, purchased, used, remaining };
  const { includedCredits } = plans[plan];
  return { included: includedCredits, purchased, used, remaining: remaining + includedCredits };
}
