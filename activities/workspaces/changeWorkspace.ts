import { isDeepStrictEqual } from 'node:util';
import { DomainError } from '../../core/errors.ts';
import { workspaceConfigured, workspaceCreated, workspaceDeleted } from '../../core/journal/workspaceNotes.ts';
import { requireName } from '../../core/names.ts';
import type { NamingChoice } from '../../core/structuring/index.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { revokeWorkspaceCredentials } from '../../store/pg/credentials.ts';
import {
  findOldestWorkspace,
  hasWorkbooks,
  insertWorkspace,
  lockWorkspace,
  updateWorkspace,
  type VisibleWorkspace,
  type WorkspaceRecord,
} from '../../store/pg/workspaces.ts';
import { makeId } from '../../store/services.ts';

/** `isDefault`: the oldest of its account, which gets new workbooks. */
export type ShownWorkspace = WorkspaceRecord & { isDefault: boolean };

export async function createWorkspace(
  tx: Tx,
  account: { id: string; ownerId: string },
  wanted: { name: string; residency: string | null },
): Promise<ShownWorkspace> {
  requireName(wanted.name, '/name');
  const workspace = await insertWorkspace(
    tx,
    { id: makeId('ws'), accountId: account.id, kind: 'managed', ...wanted, createdAt: tx.at },
    account.ownerId,
  );
  tx.note(account.id, workspaceCreated(workspace.id));
  const oldest = await findOldestWorkspace(tx.orm, account.id);
  return { ...workspace, isDefault: oldest?.id === workspace.id };
}

/** Applies the given fields. Without a change nothing is written to the journal. */
export async function configureWorkspace(
  tx: Tx,
  workspace: VisibleWorkspace,
  fields: {
    name?: string;
    residency?: string | null;
    naming?: NamingChoice;
    preprocessRules?: string | null;
    idpConfig?: Record<string, unknown> | null;
  },
): Promise<ShownWorkspace> {
  if (fields.name !== undefined) requireName(fields.name, '/name');
  const differing = Object.entries(fields).filter(([name, value]) => !isDeepStrictEqual(workspace[name as keyof typeof fields], value));
  if (differing.length === 0) return workspace;
  const changed = await updateWorkspace(tx, workspace.id, Object.fromEntries(differing));
  tx.note(
    workspace.accountId,
    workspaceConfigured(
      workspace.id,
      differing.map(([name]) => name),
    ),
  );
  return { ...changed, isDefault: workspace.isDefault };
}

/** Deletes an empty managed workspace and revokes the credentials limited to it. */
export async function deleteWorkspace(tx: Tx, workspace: VisibleWorkspace, userId: string): Promise<void> {
  if (workspace.ownerId !== userId)
    throw new DomainError('insufficient-role', 'Only the owner of the account may delete its workspaces.', 'Ask the owner.');
  if (workspace.kind === 'personal')
    throw new DomainError('in-use', 'The built-in personal workspace cannot be deleted.', 'Delete a managed workspace instead.');
  await lockWorkspace(tx, workspace.id);
  if (await hasWorkbooks(tx, workspace.id))
    throw new DomainError('in-use', 'Workbooks remain in the workspace.', 'Delete or move its workbooks first.');
  await updateWorkspace(tx, workspace.id, { deletedAt: tx.at });
  const revoked = await revokeWorkspaceCredentials(tx, workspace.id);
  tx.note(workspace.accountId, workspaceDeleted(workspace.id, revoked));
}
