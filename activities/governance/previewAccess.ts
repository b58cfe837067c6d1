import type { Principal } from '../../core/access/principal.ts';
import { scopes } from '../../core/access/scopes.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { type Asker, type Decision, decideEffect } from '../../core/policy/decideEffect.ts';
import type { TableAt } from '../../core/table/table.ts';
import { findVisibleWorkbook, type VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { askerIn } from '../../store/policies.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

/** Whose access is to be shown: roles, a member, or by default the caller's own. */
export interface AskedAccess {
  roles?: string[];
  userId?: string;
}

export interface AccessPreview {
  roles: readonly string[];
  userId: string | null;
  columns: (Decision & { column: string; tags: readonly string[] })[];
  deniedCount: number;
}

/** What the policies would do to each column. Columns that are denied to the caller are not named, unless they may set policies. */
export async function previewAccess(
  services: Services,
  principal: Principal,
  workbook: VisibleWorkbook,
  at: TableAt,
  asked: AskedAccess,
): Promise<AccessPreview> {
  const caller = askerIn(workbook, principal);
  const asker = await findAssumed(services, workbook, caller, asked);
  const { tags, rules } = await services.policies.read(at.table);
  const decided = at.columns.map(({ id, name }) => {
    const ofColumn = [...(tags.get(id) ?? [])].sort();
    return { id, column: name, tags: ofColumn, ...decideEffect(ofColumn, rules, asker) };
  });
  const visible = caller.mayConfigure ? at : await openVisibleColumns(services, principal, at);
  const named = new Set(visible.columns.map(({ id }) => id));
  return {
    roles: asker.roles,
    userId: asked.userId ?? null,
    columns: decided.filter(({ id }) => named.has(id)),
    deniedCount: decided.filter(({ effect }) => effect === 'deny').length,
  };
}

async function findAssumed({ db }: Services, workbook: VisibleWorkbook, caller: Asker, { roles, userId }: AskedAccess): Promise<Asker> {
  if (roles && userId !== undefined)
    throw new DomainError('validation-failed', '`role` and `user_id` were both given.', 'Give one of them.', {
      errors: [{ pointer: '/query/user_id', detail: 'cannot be combined with role' }],
    });
  if (roles) return { roles: [...new Set(roles)], mayConfigure: false };
  if (userId === undefined) return caller;
  const seen = await findVisibleWorkbook(db, { id: workbook.id, userId, accountId: null });
  if (!seen) throw notFound('member of this workspace who sees the workbook');
  // As in a session of theirs.
  return askerIn(seen, { scopes: [...scopes] });
}
