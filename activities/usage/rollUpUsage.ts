import { addDays, type Day, dayOf } from '../../core/usage/days.ts';
import { listAccountIds } from '../../store/pg/accounts.ts';
import { findDayToRollUp, markRolledUp, rollUpDay } from '../../store/pg/usage.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { walkAccounts } from '../walkAccounts.ts';

/** A day, and the account after which to go on. */
export interface RollUpPlace {
  day: Day;
  after: string;
}

/**
 * Puts the counts of days that are over into one row for each credential, workbook and kind. Sums stay what they are, so it can
 * be repeated or interrupted anywhere; days that were missed are made up for. Returns where to continue; null at the end.
 */
export async function rollUpUsage(services: Services, from: RollUpPlace | null, activity: ActivityContext): Promise<RollUpPlace | null> {
  const today = dayOf(new Date());
  const day = from?.day ?? (await findDayToRollUp(services.db.pool, today));
  if (day === null || day >= today) return null;
  const span = { day, nextDay: addDays(day, 1) };
  const { pool } = services.db;
  const list = (after: string, limit: number) => listAccountIds(pool, after, limit);
  const { next: after } = await walkAccounts(from?.after ?? '', activity, list, (ids) => rollUpDay(pool, ids, span));
  if (after !== null) return { day, after };
  await markRolledUp(services.db.orm, day);
  return { day: span.nextDay, after: '' };
}
