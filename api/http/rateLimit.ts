import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { leaseRate } from '../../store/pg/rates.ts';
import type { Services } from '../../store/services.ts';

interface Share {
  subject: string;
  limit: number;
  minute: number;
  left: number;
  /** What other processes may still take, as of the last lease. */
  remaining: number;
  leasing: Promise<void> | null;
}

export type TakeRequest = (principal: Principal) => Promise<Record<string, string>>;

/** What a request counts against: the allowance of its credential, and those of the credentials by which that was minted. */
function listAllowances({ kind, userId, credentialId, rateLimitPerMinute, ancestors }: Principal): Pick<Share, 'subject' | 'limit'>[] {
  return [
    // The sessions of a user share one allowance, so logging in again gives no new one.
    { subject: kind === 'session' ? userId : credentialId, limit: rateLimitPerMinute },
    ...ancestors.map((ancestor) => ({ subject: ancestor.id, limit: ancestor.rateLimitPerMinute })),
  ];
}

/**
 * Counts requests per credential and clock minute. Each process leases a share of the minute's allowance from one row, so that
 * the limit holds across processes and most requests need no query.
 */
export function makeRateLimiter(services: Services): TakeRequest {
  if (!services.config.rateLimits) return async () => ({});
  const shares = new Map<string, Share>();
  let sweptAt = 0;

  const openShare = ({ subject, limit }: Pick<Share, 'subject' | 'limit'>, minute: number): Share => {
    const known = shares.get(subject);
    if (known?.minute === minute) return known;
    const share = { subject, limit, minute, left: 0, remaining: limit, leasing: null };
    shares.set(subject, share);
    return share;
  };
  const lease = async (share: Share) => {
    const wanted = Math.max(1, Math.floor(share.limit / 50));
    const { granted, remaining } = await leaseRate(services.db.pool, share.subject, share.minute, share.limit, wanted);
    share.left += granted;
    share.remaining = remaining;
  };
  const refill = async (share: Share) => {
    share.leasing ??= lease(share).finally(() => {
      share.leasing = null;
    });
    await share.leasing;
  };

  return async (principal) => {
    const seconds = Date.now() / 1000;
    const minute = Math.floor(seconds / 60);
    if (sweptAt !== minute) {
      sweptAt = minute;
      for (const [key, old] of shares) if (old.minute < minute) shares.delete(key);
    }
    const mine = listAllowances(principal).map((allowance) => openShare(allowance, minute));
    const isEmpty = (share: Share) => share.left === 0 && share.remaining > 0;
    // While one is filled, other requests may empty another.
    for (let empty = mine.find(isEmpty); empty; empty = mine.find(isEmpty)) await refill(empty);
    const allowed = mine.every(({ left }) => left > 0);
    if (allowed) for (const share of mine) share.left -= 1;
    const rest = ({ left, remaining }: Share) => left + remaining;
    const scarcest = mine.reduce((least, share) => (rest(share) < rest(least) ? share : least));
    const reset = Math.max(1, Math.ceil((minute + 1) * 60 - seconds));
    const headers = {
      'RateLimit-Policy': `"credential";q=${scarcest.limit};w=60`,
      RateLimit: `"credential";r=${rest(scarcest)};t=${reset}`,
    };
    if (allowed) return headers;
    throw new DomainError(
      'rate-limited',
      scarcest === mine[0]
        ? `This credential may make ${scarcest.limit} requests a minute.`
        : `This credential and the one that minted it may make ${scarcest.limit} requests a minute together.`,
      `Wait ${reset} seconds, then go on more slowly.`,
      { headers: { ...headers, 'Retry-After': String(reset) } },
    );
  };
}
