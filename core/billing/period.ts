import type { Interval } from '../credits/priceList.ts';

export interface Period {
  start: Date;
  end: Date;
}

/** The calendar month in UTC: the period of accounts without a subscription. */
export function monthAround(at: Date): Period {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: new Date(Date.UTC(year, month, 1)), end: new Date(Date.UTC(year, month + 1, 1)) };
}

/** A period of a subscription. One that began on the 31st ends on the last day of a shorter month. */
export function periodFrom(start: Date, interval: Interval): Period {
  const months = interval === 'annual' ? 12 : 1;
  const end = new Date(start);
  end.setUTCDate(1);
  end.setUTCMonth(start.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  end.setUTCDate(Math.min(start.getUTCDate(), lastDay));
  return { start, end };
}
