import { type Day, lastDays } from '../../core/usage/days.ts';
import { listUsageDays, type UsageDay } from '../../store/pg/usage.ts';
import type { Services } from '../../store/services.ts';
import { usualDays } from './readOwnUsage.ts';

export interface AccountUsage {
  accountId: string;
  days: number;
  from: Day;
  to: Day;
  series: UsageDay[];
}

/** What an account did on the last days, including today, and what it had then. */
export async function readAccountUsage(services: Services, accountId: string, days = usualDays): Promise<AccountUsage> {
  const span = lastDays(new Date(), days);
  return { accountId, days, ...span, series: await listUsageDays(services.db.pool, accountId, span) };
}
