import type { Principal } from '../../core/access/principal.ts';
import { type Day, lastDays, startOf } from '../../core/usage/days.ts';
import { type DailyRequests, sumDailyRequests } from '../../store/pg/usage.ts';
import type { Services } from '../../store/services.ts';

export const usualDays = 30;

export interface OwnUsage {
  days: number;
  from: Day;
  to: Day;
  requests: DailyRequests[];
}

/** Requests of the last days, including today. A session sees all credentials of its user; a token or key only itself. */
export async function readOwnUsage(services: Services, principal: Principal, days = usualDays): Promise<OwnUsage> {
  const { from, to } = lastDays(new Date(), days);
  const whose = principal.kind === 'session' ? { userId: principal.userId } : { credentialId: principal.credentialId };
  return { days, from, to, requests: await sumDailyRequests(services.db.orm, { ...whose, since: startOf(from) }) };
}
