import type { Movement } from './books.ts';
import { nameMonth } from './month.ts';
import { type AccountKind, countIncluded, type Plan } from './priceList.ts';

/** Grants what a plan includes this month beyond what was granted already. Null: nothing is missing. */
export function planUpgrade(account: { plan: Plan; kind: AccountKind }, month: number, granted: number): Movement | null {
  const missing = countIncluded(account.plan, account.kind) - granted;
  if (missing <= 0) return null;
  return {
    key: `grant:${nameMonth(month)}:${account.plan}`,
    kind: 'grant',
    ref: null,
    workbookId: null,
    shifts: [{ source: 'included', ends: month, from: 'issued', to: 'available', amount: missing }],
  };
}
