import type { Principal } from '../../core/access/principal.ts';
import { type DailyRequests, sumDailyRequests } from '../../store/pg/usage.ts';
import type { Services } from '../../store/services.ts';

const dayMs = 24 * 3_600_000;
const usualDays = 30;

export interface OwnUsage {
  days: number;
  from: Date;
  to: Date;
  requests: DailyRequests[];
}

/** Requests of the last days, including today. A session sees all credentials of its user; a token or key only itself. */
export async function readOwnUsage(services: Services, principal: Principal, days = usualDays): Promise<OwnUsage> {
  const to = new Date(Math.floor(Date.now() / dayMs) * dayMs);
  const from = new Date(to.getTime() - (days - 1) * dayMs);
  const whose = principal.kind === 'session' ? { userId: principal.userId } : { credentialId: principal.credentialId };
  return { days, from, to, requests: await sumDailyRequests(services.db.orm, { ...whose, since: from }) };
}
