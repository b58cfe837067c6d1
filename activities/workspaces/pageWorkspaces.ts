import type { Principal } from '../../core/access/principal.ts';
import { reachesWorkspace } from '../../core/access/reach.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { listMembers, listVisibleWorkspaces, type MemberRecord, type VisibleWorkspace } from '../../store/pg/workspaces.ts';
import type { Services } from '../../store/services.ts';

/** Workspaces of these accounts that the principal may see and reach, oldest first. */
export async function pageWorkspaces(
  services: Services,
  principal: Principal,
  accountIds: readonly string[],
  query: PageQuery,
): Promise<Page<VisibleWorkspace>> {
  const pin = principal.reach.kind === 'workspace' ? { id: principal.reach.id } : {};
  return pageById(
    query,
    'ws',
    (after, limit) => listVisibleWorkspaces(services.db.orm, { userId: principal.userId, accountIds, after, limit, ...pin }),
    (workspace) => workspace.id,
  );
}

export interface OwnWorkspace {
  workspace: VisibleWorkspace;
  /** New workbooks of the principal go here. */
  isDefault: boolean;
}

/** Workspaces in all accounts of the principal. A credential limited to a workbook reaches none. */
export async function pageOwnWorkspaces(services: Services, principal: Principal, query: PageQuery): Promise<Page<OwnWorkspace>> {
  const { reach } = principal;
  if (reach.kind === 'workbook') return { items: [], nextCursor: null };
  const page = await pageWorkspaces(services, principal, principal.accountIds, query);
  const isDefault = ({ id, isDefault: isOldest, accountId }: VisibleWorkspace) =>
    reach.kind === 'workspace' ? reachesWorkspace(reach, id) : isOldest && accountId === principal.accountId;
  return { ...page, items: page.items.map((workspace) => ({ workspace, isDefault: isDefault(workspace) })) };
}

export async function pageMembers(services: Services, workspaceId: string, query: PageQuery): Promise<Page<MemberRecord>> {
  return pageById(
    query,
    'usr',
    (after, limit) => listMembers(services.db.orm, workspaceId, { after, limit }),
    (member) => member.user.id,
  );
}
