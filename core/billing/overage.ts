import type { OverageLot } from '../credits/books.ts';
import { monthOf } from '../credits/month.ts';
import { type Plan, overage as prices } from '../credits/priceList.ts';

/** What an account owes for work beyond its credits, in credits. */
export interface OwedOverage {
  /** Of earlier periods. */
  arrears: number;
  /** Of the current period so far. */
  current: number;
}

/** `arrears`: as stored, to which periods that have ended since are added. */
export function countOwed(arrears: number, lots: OverageLot[], at: Date): OwedOverage {
  const month = monthOf(at);
  const sum = (isOver: boolean) => lots.reduce((total, { ends, spent }) => total + (ends < month === isOver ? spent : 0), 0);
  return { arrears: arrears + sum(true), current: sum(false) };
}

/** How far an account may go beyond its credits. */
export function countCeiling({ plan, planStatus }: { plan: Plan | null; planStatus: string }): number {
  return plan === 'payg' && planStatus !== 'past_due' ? prices.mostCredits : 0;
}

/** Whether it is charged. What is below the floor is carried on, and written off with the account. */
export function isSettleable({ arrears, current }: OwedOverage): boolean {
  return arrears + current >= prices.settlementFloor;
}
