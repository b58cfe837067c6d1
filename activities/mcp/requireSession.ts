import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { touchMcpSession } from '../../store/pg/mcpSessions.ts';
import type { Services } from '../../store/services.ts';
import { describeSession, idleMs, type McpSession, noteEveryMs, sessionEnded } from './session.ts';

/** The session that a request names, if it is one of the same credential. */
export async function requireSession(services: Services, principal: Principal, id: string | null): Promise<McpSession> {
  const session = describeSession(principal, requireSessionId(id));
  if (await touchMcpSession(services.db.pool, session, { idleMs, noteEveryMs })) return session;
  throw sessionEnded();
}

export function requireSessionId(id: string | null): string {
  if (id !== null) return id;
  throw new DomainError(
    'malformed-request',
    'The request names no session.',
    'Send `initialize` first, and with every later message the Mcp-Session-Id that it was answered with.',
  );
}
