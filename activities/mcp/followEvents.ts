import { setTimeout as sleep } from 'node:timers/promises';
import { listMcpEvents } from '../../store/pg/mcpSessions.ts';
import { unseal } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { formatEventId, parseEventId } from './eventId.ts';
import type { McpSession } from './session.ts';

/** How long one connection waits for an answer that is still being made; then the client connects again. */
const longestMs = 15_000;
const lookEveryMs = 200;

/** What was sent on a stream after an event, whichever process sent it, and what is sent meanwhile, up to the answer. */
export async function* followEvents(services: Services, session: McpSession, lastEventId: string, signal: AbortSignal) {
  const { streamId, after } = parseEventId(lastEventId);
  const until = Date.now() + longestMs;
  for (let seen = after; Date.now() < until && !signal.aborted; await sleep(lookEveryMs)) {
    for (const { number, message, isLast } of await listMcpEvents(services.db.pool, {
      sessionHash: session.idHash,
      streamId,
      after: seen,
    })) {
      seen = number;
      yield { id: formatEventId(streamId, number), name: 'message', data: JSON.parse(unseal(session.key, message).toString()) as object };
      if (isLast) return;
    }
  }
}
