import type { Principal } from '../../core/access/principal.ts';
import { describeErrorForLog } from '../../store/log.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { insertRequestCounts } from '../../store/pg/usage.ts';
import type { Services } from '../../store/services.ts';

export interface RequestCounter {
  count(principal: Principal): void;
  /** Writes the counts. Readers of usage call it first, to see their own requests. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const flushEveryMs = 1_000;

/** The token audit log: requests per credential, collected for a second and then added as rows. */
export function makeRequestCounter(services: Services): RequestCounter {
  let counts = new Map<string, { principal: Principal; requests: number }>();
  const flush = async () => {
    if (counts.size === 0) return;
    const taken = counts;
    counts = new Map();
    const at = new Date();
    try {
      const rows = [...taken.values()].map(({ principal, requests }) => ({
        accountId: principal.accountId,
        userId: principal.userId,
        credentialId: principal.credentialId,
        kind: principal.kind,
        at,
        requests,
      }));
      await acrossAccounts(() => insertRequestCounts(services.db.orm, rows));
    } catch (error) {
      // Put back, so that a short outage of the database loses no counts.
      for (const [key, { principal, requests }] of taken)
        counts.set(key, { principal, requests: requests + (counts.get(key)?.requests ?? 0) });
      services.log.warn(describeErrorForLog(error), 'request counts could not be written');
    }
  };
  const timer = setInterval(flush, flushEveryMs);
  timer.unref();
  return {
    count(principal) {
      const entry = counts.get(principal.credentialId);
      if (entry) entry.requests += 1;
      else counts.set(principal.credentialId, { principal, requests: 1 });
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
