import { type Books, type Lot, type Movement, monthOfBooks } from './books.ts';
import { nameMonth } from './month.ts';
import { countMonthly, plans } from './priceList.ts';

export interface PlannedMonth {
  month: number;
  movements: Movement[];
  /** The lots after the movements. */
  lots: Lot[];
}

/** Brings the books to the current month: expired lots are emptied, and what the account gets is granted. */
export function planMonth({ accountId, plan, kind, planStatus, lots }: Omit<Books, 'overage' | 'ceiling'>, at: Date): PlannedMonth {
  const month = monthOfBooks(lots, at);
  if (lots.some(({ source, ends }) => source === 'included' && ends === month)) return { month, movements: [], lots };
  if (plan === null || kind === null || !(plan in plans)) throw new Error(`no account ${accountId} with a plan of the price list`);
  const included = countMonthly({ plan, kind, planStatus });
  const expired = lots
    .filter(({ ends, available }) => ends < month && available > 0)
    .map(({ source, ends, available }): Movement => {
      const shifts: Movement['shifts'] = [{ source, ends, from: 'available', to: 'expired', amount: available }];
      return { key: `expire:${source}:${nameMonth(ends)}`, kind: 'expire', ref: null, workbookId: null, shifts };
    });
  const left = lots.map((lot) => (lot.ends < month ? { ...lot, available: 0 } : lot));
  if (included === 0) return { month, movements: expired, lots: left };
  const grant: Movement = {
    key: `grant:${nameMonth(month)}`,
    kind: 'grant',
    ref: null,
    workbookId: null,
    shifts: [{ source: 'included', ends: month, from: 'issued', to: 'available', amount: included }],
  };
  return {
    month,
    movements: [...expired, grant],
    lots: [...left, { source: 'included', ends: month, available: included }],
  };
}
