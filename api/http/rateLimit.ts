import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { explainDatabaseError } from '../../store/pg/database.ts';
import { leaseRate } from '../../store/pg/rates.ts';
import type { Services } from '../../store/services.ts';

interface Share {
  minute: number;
  left: number;
  /** What other processes may still take, as of the last lease. */
  remaining: number;
  leasing: Promise<void> | null;
}

export type TakeRequest = (principal: Principal) => Promise<Record<string, string>>;

/**
 * Counts requests per credential and clock minute. Each process leases a share of the minute's allowance from one row, so that
 * the limit holds across processes and most requests need no query.
 */
export function makeRateLimiter(services: Services): TakeRequest {
  if (!services.config.rateLimits) return async () => ({});
  const shares = new Map<string, Share>();
  let sweptAt = 0;

  const lease = async (subject: string, share: Share, limit: number) => {
    const wanted = Math.max(1, Math.floor(limit / 50));
    const { granted, remaining } = await leaseRate(services.db.pool, subject, share.minute, limit, wanted);
    share.left += granted;
    share.remaining = remaining;
  };

  return async (principal) => {
    const limit = principal.rateLimitPerMinute;
    // The sessions of a user share one allowance, so logging in again gives no new one.
    const subject = principal.kind === 'session' ? principal.userId : principal.credentialId;
    const seconds = Date.now() / 1000;
    const minute = Math.floor(seconds / 60);
    if (sweptAt !== minute) {
      sweptAt = minute;
      for (const [key, old] of shares) if (old.minute < minute) shares.delete(key);
    }
    let share = shares.get(subject);
    if (!share || share.minute !== minute) {
      share = { minute, left: 0, remaining: limit, leasing: null };
      shares.set(subject, share);
    }
    while (share.left === 0 && share.remaining > 0) {
      const mine = share;
      mine.leasing ??= lease(subject, mine, limit).finally(() => {
        mine.leasing = null;
      });
      try {
        await mine.leasing;
      } catch (error) {
        throw explainDatabaseError(error);
      }
    }
    const reset = Math.max(1, Math.ceil((minute + 1) * 60 - seconds));
    const allowed = share.left > 0;
    if (allowed) share.left -= 1;
    const headers = {
      'RateLimit-Policy': `"credential";q=${limit};w=60`,
      RateLimit: `"credential";r=${share.left + share.remaining};t=${reset}`,
    };
    if (allowed) return headers;
    throw new DomainError(
      'rate-limited',
      `This credential may make ${limit} requests a minute.`,
      `Wait ${reset} seconds, then go on more slowly.`,
      { headers: { ...headers, 'Retry-After': String(reset) } },
    );
  };
}
