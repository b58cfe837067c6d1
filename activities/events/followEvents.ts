import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { StoredEvent } from '../../core/journal/serviceEvent.ts';
import { findLatestPosition } from '../../store/pg/events.ts';
import type { Services } from '../../store/services.ts';
import { findPrincipal } from '../identity/findPrincipal.ts';
import { type EventQuery, pageEvents } from './pageEvents.ts';

const longestMs = 5 * 60_000;
const silentMs = 15_000;
const mostAtOnce = 100;

/**
 * Events after a place as they are published, for some minutes at most: who follows longer shows their credential again. Null:
 * there is nothing more for now. Before each reading the credential is looked up again: the stream ends with it, and shows what
 * it may see then.
 */
export async function* followEvents(
  services: Services,
  principal: Principal,
  query: EventQuery,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<StoredEvent | null> {
  const until = Date.now() + longestMs;
  let last = after;
  while (!signal.aborted) {
    const found = await findPrincipal(services, principal.userId, principal.credentialId);
    if (!found || found.ended) return;
    // Read first: what is published in between is then found at once.
    const latest = await findLatestPosition(services.db.pool);
    const page = await pageEvents(
      services,
      { ...found.principal, accountIds: principal.accountIds },
      { ...query, limit: mostAtOnce },
      last,
    );
    for (const event of page.items) {
      yield event;
      last = event.position;
    }
    if (page.nextCursor !== null) continue;
    yield null;
    const left = until - Date.now();
    if (left <= 0) return;
    if (!(await services.eventWatch.waitForChange('events', String(latest), Math.min(left, silentMs), signal))) return;
  }
}

/** Takes one of the places for those who follow. The returned function gives it back. */
export function takeStream(services: Services, { credentialId }: Principal): () => void {
  const leave = services.eventWatch.admit(credentialId);
  if (leave) return leave;
  throw new DomainError('rate-limited', 'Too many streams are open.', 'Close some, or ask for pages instead.', {
    headers: { 'Retry-After': '10' },
  });
}
