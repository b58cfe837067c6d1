import { isDeepStrictEqual } from 'node:util';
import { type BaseRole, reservedRoles } from '../../core/access/roles.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { workbookConfigured } from '../../core/journal/workbookNotes.ts';
import { memberAdded, memberRemoved, memberRoleChanged, memberRolesSet } from '../../core/journal/workspaceNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { raisePolicyVersions } from '../../store/pg/governance.ts';
import { findUserByEmail } from '../../store/pg/users.ts';
import { handOverWorkbooks } from '../../store/pg/workbooks.ts';
import {
  deleteMember,
  insertMember,
  listMembers,
  lockWorkspace,
  type MemberRecord,
  setMemberRole,
  setMemberRoles,
  type VisibleWorkspace,
} from '../../store/pg/workspaces.ts';

function refuseOwner(workspace: VisibleWorkspace, userId: string, what: string): void {
  if (userId === workspace.ownerId) throw new DomainError('in-use', `The owner of the workspace ${what}.`, 'Name another member.');
}

async function requireMember(tx: Tx, workspace: VisibleWorkspace, userId: string): Promise<MemberRecord> {
  const [member] = await listMembers(tx.orm, workspace.id, { userId, limit: 1 });
  if (!member) throw notFound('member of this workspace');
  return member;
}

/** Adds a user, or changes the base role of a member. */
export async function addMember(
  tx: Tx,
  workspace: VisibleWorkspace,
  wanted: { email: string; role: BaseRole },
): Promise<{ member: MemberRecord; added: boolean }> {
  const user = await findUserByEmail(tx.orm, wanted.email);
  if (!user) throw notFound('user with this e-mail', 'Ask them to sign up first, then add them.');
  refuseOwner(workspace, user.id, 'stays its admin');
  const added = await insertMember(tx, { workspaceId: workspace.id, userId: user.id, role: wanted.role, createdAt: tx.at });
  if (added || (await setMemberRole(tx, workspace.id, user.id, wanted.role))) {
    await raisePolicyVersions(tx, workspace.id);
    tx.note(workspace.accountId, (added ? memberAdded : memberRoleChanged)(workspace.id, user.id, wanted.role));
  }
  return { member: await requireMember(tx, workspace, user.id), added };
}

/** Their private workbooks, which nobody would see any more, go to the workspace's owner. */
export async function removeMember(tx: Tx, workspace: VisibleWorkspace, userId: string): Promise<void> {
  const { user } = await requireMember(tx, workspace, userId);
  refuseOwner(workspace, user.id, 'cannot be removed from it');
  await lockWorkspace(tx, workspace.id);
  await deleteMember(tx, workspace.id, user.id);
  tx.note(workspace.accountId, memberRemoved(workspace.id, user.id));
  for (const workbookId of await handOverWorkbooks(tx, workspace.id, { from: user.id, to: workspace.ownerId }))
    tx.note(workbookId, workbookConfigured(workbookId, ['owner']));
}

/** Replaces the custom roles; the base role stays. */
export async function replaceRoles(tx: Tx, workspace: VisibleWorkspace, userId: string, roles: string[]): Promise<MemberRecord> {
  const reserved = roles.flatMap((role, i) =>
    reservedRoles.includes(role.toLowerCase()) ? [{ pointer: `/roles/${i}`, detail: 'is a built-in name' }] : [],
  );
  if (reserved.length > 0)
    throw new DomainError('validation-failed', 'Built-in role names are reserved.', 'Choose other names for custom roles.', {
      errors: reserved,
    });
  const wanted = [...new Set(roles)];
  const member = await requireMember(tx, workspace, userId);
  if (isDeepStrictEqual(member.roles, wanted)) return member;
  await setMemberRoles(tx, workspace.id, userId, wanted);
  await raisePolicyVersions(tx, workspace.id);
  tx.note(workspace.accountId, memberRolesSet(workspace.id, userId, roles));
  return requireMember(tx, workspace, userId);
}
