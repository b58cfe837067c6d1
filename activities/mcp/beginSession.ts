import { randomBytes } from 'node:crypto';
import type { Principal } from '../../core/access/principal.ts';
import { insertMcpSession } from '../../store/pg/mcpSessions.ts';
import type { Services } from '../../store/services.ts';
import { describeSession, mostSessions } from './session.ts';

/** Returns the id of a new session of the credential. */
export async function beginSession(services: Services, principal: Principal): Promise<string> {
  const id = randomBytes(24).toString('base64url');
  await insertMcpSession(services.db.pool, describeSession(principal, id), mostSessions);
  return id;
}
