import { findNewestEntry, hasEntry, isChainValid } from '../../store/pg/audit.ts';
import type { Services } from '../../store/services.ts';
import { moveAnchor, readAnchor } from './anchors.ts';

/**
 * Whether the audit chain of a workbook or account is whole. Inside the database every link and the sealed head are
 * checked; the anchor outside of it shows a chain that was cut back to an older head, however well. A chain that is found
 * whole moves the anchor on.
 */
export async function verifyChain(services: Services, accountId: string, scope: string): Promise<boolean> {
  const [valid, { anchor, keys }] = await Promise.all([
    isChainValid(services.db, scope, services.auditPads),
    readAnchor(services, accountId, scope),
  ]);
  if (!valid || (anchor && !(await hasEntry(services.db.orm, scope, anchor)))) return false;
  const newest = await findNewestEntry(services.db.orm, scope);
  if (newest && (!anchor || newest.seq > anchor.seq)) await moveAnchor(services, accountId, scope, newest, keys);
  return true;
}
