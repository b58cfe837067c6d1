import { monthOf } from './month.ts';
import type { Plan } from './priceList.ts';

export type Source = 'included' | 'purchased';

/** Where credits stand. All come out of `issued`, which is as far below zero as the others are above it. */
export type Bucket = 'issued' | 'available' | 'reserved' | 'spent' | 'expired';

/** Credits that came the same way and can be spent until the end of the same month. */
export interface Lot {
  source: Source;
  ends: number;
  available: number;
}

/** What an account's books say, as far as the next movement depends on it. */
export interface Books {
  accountId: string;
  /** Null when there is no such account. */
  plan: Plan | null;
  lots: Lot[];
}

/** Credits that go from one bucket of a lot to another. */
export interface Shift {
  source: Source;
  ends: number;
  from: Bucket;
  to: Bucket;
  amount: number;
}

/** Why credits move. The key is unique in the books of an account, so that nothing can happen twice. */
export interface Movement {
  key: string;
  kind: 'grant' | 'purchase' | 'reserve' | 'settle' | 'release' | 'expire';
  /** The job or the payment it is about. */
  ref: string | null;
  workbookId: string | null;
  shifts: Shift[];
}

/** What a job has reserved. */
export interface HeldCredits {
  workbookId: string | null;
  parts: { source: Source; ends: number; amount: number }[];
  /** How the reservation has ended, if it has. */
  closed: 'settle' | 'release' | null;
}

export const purchaseKey = (ref: string) => `purchase:${ref}`;
export const reserveKey = (jobId: string) => `reserve:${jobId}`;
/** The same whether it is spent or given back, so that one job cannot have both. */
export const closeKey = (jobId: string) => `close:${jobId}`;

/**
 * The month that the books are in: the clock's, unless a later one has begun in them already. So a transaction that began before
 * midnight, and got the lock after it, cannot go back.
 */
export function monthOfBooks(lots: Lot[], at: Date): number {
  return Math.max(monthOf(at), ...lots.flatMap(({ source, ends }) => (source === 'included' ? [ends] : [])));
}

export function checkAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 1) throw new RangeError(`not an amount of credits: ${amount}`);
}
