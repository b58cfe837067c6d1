import { monthOf } from './month.ts';
import type { AccountKind, Plan } from './priceList.ts';

/** `overage`: work beyond the credits there were, which pay-as-you-go allows. It is issued when it is reserved, and never available. */
export type Source = 'included' | 'purchased' | 'overage';

/**
 * The buckets of a lot. All credits come out of `issued`, so the buckets of a lot always sum to zero. `settled`: overage that is
 * paid for or stands in the account's arrears, and the bought credits that paid for it.
 */
export type Bucket = 'issued' | 'available' | 'reserved' | 'spent' | 'settled' | 'expired';

/** Credits of the same source that expire at the end of the same month. */
export interface Lot {
  source: Exclude<Source, 'overage'>;
  ends: number;
  available: number;
}

/** What ran over in a month. */
export interface OverageLot {
  ends: number;
  reserved: number;
  /** Owed. */
  spent: number;
  settled: number;
}

/** The part of an account's books that the next movement depends on. */
export interface Books {
  accountId: string;
  /** Null, as is `kind`: the account does not exist. */
  plan: Plan | null;
  kind: AccountKind | null;
  planStatus: string;
  /** The most that these books may owe for overage: what the plan allows, less the arrears, which stand beside them. */
  ceiling: number;
  lots: Lot[];
  overage: OverageLot[];
}

/** Credits that go from one bucket of a lot to another. */
export interface Shift {
  source: Source;
  ends: number;
  from: Bucket;
  to: Bucket;
  amount: number;
}

/** A booked change. The key is unique within an account, so nothing is booked twice. */
export interface Movement {
  key: string;
  kind: 'grant' | 'purchase' | 'reserve' | 'settle' | 'release' | 'expire' | 'cover' | 'bill';
  /** The job or payment. */
  ref: string | null;
  workbookId: string | null;
  shifts: Shift[];
}

/** The credits that a job has reserved. */
export interface HeldCredits {
  workbookId: string | null;
  parts: { source: Source; ends: number; amount: number }[];
  /** How the reservation ended; null while it is open. */
  closed: 'settle' | 'release' | null;
}

export const purchaseKey = (ref: string) => `purchase:${ref}`;
export const reserveKey = (jobId: string) => `reserve:${jobId}`;
/** The same key for settling and releasing, so a reservation cannot have both. */
export const closeKey = (jobId: string) => `close:${jobId}`;

/**
 * The current month of the books: the clock's, or a later one that has already begun in them. So a transaction that began
 * before midnight but got the lock after it does not go back a month.
 */
export function monthOfBooks(lots: Lot[], at: Date): number {
  return Math.max(monthOf(at), ...lots.flatMap(({ source, ends }) => (source === 'included' ? [ends] : [])));
}

export function checkAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 1) throw new RangeError(`not an amount of credits: ${amount}`);
}
