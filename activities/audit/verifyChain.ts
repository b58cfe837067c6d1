import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { findAccount } from '../../store/pg/accounts.ts';
import { checkChain, hasEntry, recordAnchor } from '../../store/pg/audit.ts';
import type { Services } from '../../store/services.ts';
import { moveAnchor, readAnchor } from './anchors.ts';

export type ChainState = 'broken' | 'moved' | 'unmoved';

/**
 * Verifies the audit chain of a workbook or account. In the database it checks every link and the sealed head; the anchor
 * outside of it reveals a chain that was cut back to an older head. Moves the anchor forward if the chain is whole. `newPart`
 * trusts everything before the anchor.
 */
export async function verifyChain(
  services: Services,
  accountId: string,
  scope: string,
  extent: 'all' | 'newPart' = 'all',
): Promise<ChainState> {
  const { anchor, keys } = await readAnchor(services, accountId, scope);
  const [head, anchored] = await Promise.all([
    checkChain(services.db, scope, services.auditPads, extent === 'newPart' ? anchor : null),
    anchor === null || hasEntry(services.db.orm, scope, anchor),
  ]);
  // It has gone with its account since it was listed.
  if (!head && accountId !== 'none' && !(await acrossAccounts(() => findAccount(services.db.orm, accountId)))) return 'unmoved';
  if (!head?.whole || !anchored) {
    services.log.error({ scope, account: accountId, anchoredAt: anchor?.seq, endsAt: head?.seq }, 'an audit chain is broken');
    // A chain without its head no longer shows its account, so row security would hide it.
    await acrossAccounts(() => recordAnchor(services.db.pool, scope, { seq: anchor?.seq ?? 0, state: 'broken' }));
    return 'broken';
  }
  const moves = head.seq > (anchor?.seq ?? 0);
  if (moves) await moveAnchor(services, accountId, scope, head, keys);
  await recordAnchor(services.db.pool, scope, { seq: head.seq, state: extent === 'all' ? 'whole' : 'anchored' });
  return moves ? 'moved' : 'unmoved';
}
