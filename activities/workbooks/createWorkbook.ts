import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { workbookCreated } from '../../core/journal/workbookNotes.ts';
import { requireName } from '../../core/names.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertWorkbook } from '../../store/pg/workbooks.ts';
import { findOldestWorkspace, type VisibleWorkspace } from '../../store/pg/workspaces.ts';
import { makeId, type Services } from '../../store/services.ts';
import { outsideReach, requireNamedWorkspace } from '../access.ts';
import { type DescribedWorkbook, describeWorkbook } from './describeWorkbooks.ts';

/** The workspace of a new workbook: the one named, the one the credential is limited to, or the account's oldest. */
export async function chooseWorkspace(
  services: Services,
  principal: Principal,
  workspaceId: string | null | undefined,
): Promise<Pick<VisibleWorkspace, 'id' | 'accountId'>> {
  if (principal.reach.kind === 'workbook') throw outsideReach(principal, 'Creating a workbook');
  const named = workspaceId ?? (principal.reach.kind === 'workspace' ? principal.reach.id : null);
  if (named !== null) {
    const workspace = await requireNamedWorkspace(services, principal, named);
    if (workspace.role === 'viewer') {
      throw new DomainError(
        'insufficient-role',
        'Creating a workbook needs the role editor; yours is viewer.',
        'Ask an admin of the workspace for the role editor.',
      );
    }
    return workspace;
  }
  const oldest = await findOldestWorkspace(services.db.orm, principal.accountId);
  if (!oldest) {
    throw new DomainError(
      'no-workspace',
      'The account has no workspace for the workbook to go into.',
      'Create one with POST /api/control/workspaces, then try again.',
    );
  }
  return oldest;
}

export async function createWorkbook(
  tx: Tx,
  principal: Principal,
  wanted: { title: string; visibility?: 'workspace' | 'private'; workspace: Pick<VisibleWorkspace, 'id' | 'accountId'> },
): Promise<DescribedWorkbook> {
  const { id: workspaceId, accountId } = wanted.workspace;
  const workbook = await insertWorkbook(tx, {
    id: makeId('wb'),
    accountId,
    workspaceId,
    ownerId: principal.userId,
    title: requireName(wanted.title, '/title'),
    visibility: wanted.visibility ?? 'workspace',
    createdAt: tx.at,
    updatedAt: tx.at,
  });
  if (!workbook) throw outsideReach(principal, `The workspace ${workspaceId}`);
  await tx.openHead(workbook.id, accountId);
  tx.note(workbook.id, workbookCreated(workbook));
  return describeWorkbook(tx.orm, workbook);
}
