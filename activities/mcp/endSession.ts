import type { Principal } from '../../core/access/principal.ts';
import { deleteMcpSession } from '../../store/pg/mcpSessions.ts';
import type { Services } from '../../store/services.ts';
import { requireSessionId } from './requireSession.ts';
import { describeSession, sessionEnded } from './session.ts';

export async function endSession(services: Services, principal: Principal, id: string | null): Promise<void> {
  if (!(await deleteMcpSession(services.db.pool, describeSession(principal, requireSessionId(id))))) throw sessionEnded();
}
