import { and, asc, eq, gt, inArray, isNull, ne, or, sql } from 'drizzle-orm';
import type { BaseRole } from '../../core/access/roles.ts';
import { accounts, members, users, workbooks, workspaces } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';
import type { UserRecord } from './users.ts';

export type WorkspaceRecord = typeof workspaces.$inferSelect;

export interface VisibleWorkspace extends WorkspaceRecord {
  ownerId: string;
  role: BaseRole;
  customRoles: string[];
  /** The account's oldest workspace, in which workbooks are created when no workspace is given. */
  isDefault: boolean;
}

const isOldest = sql<boolean>`NOT EXISTS (SELECT 1 FROM workspaces older WHERE older.account_id = ${workspaces.accountId} AND older.deleted_at IS NULL AND older.id < ${workspaces.id})`;
const roleOf = (userId: string) => sql<BaseRole>`CASE WHEN ${accounts.ownerId} = ${userId} THEN 'admin' ELSE ${members.role} END`;

export interface WorkspaceFilter {
  userId: string;
  /** The caller's accounts: one for a token or key, for a session all of the user's. */
  accountIds: readonly string[];
  id?: string;
  after?: string | null;
  limit?: number;
}

/** Workspaces that the user owns or is a member of, oldest first. */
export async function listVisibleWorkspaces(orm: Orm, filter: WorkspaceFilter): Promise<VisibleWorkspace[]> {
  const rows = await orm
    .select({
      workspace: workspaces,
      ownerId: accounts.ownerId,
      role: roleOf(filter.userId),
      customRoles: members.roles,
      isDefault: isOldest,
    })
    .from(workspaces)
    .innerJoin(accounts, and(eq(accounts.id, workspaces.accountId), isNull(accounts.deletedAt)))
    .leftJoin(members, and(eq(members.workspaceId, workspaces.id), eq(members.userId, filter.userId)))
    .where(
      and(
        isNull(workspaces.deletedAt),
        or(eq(accounts.ownerId, filter.userId), eq(members.userId, filter.userId)),
        inArray(workspaces.accountId, [...filter.accountIds]),
        filter.id === undefined ? undefined : eq(workspaces.id, filter.id),
        filter.after == null ? undefined : gt(workspaces.id, filter.after),
      ),
    )
    .orderBy(asc(workspaces.id))
    .limit(filter.limit ?? 1000);
  return rows.map(({ workspace, customRoles, ...rest }) => ({ ...workspace, ...rest, customRoles: customRoles ?? [] }));
}

export async function findOldestWorkspace(orm: Orm, accountId: string): Promise<WorkspaceRecord | null> {
  const [row] = await orm
    .select()
    .from(workspaces)
    .where(and(eq(workspaces.accountId, accountId), isNull(workspaces.deletedAt)))
    .orderBy(asc(workspaces.id))
    .limit(1);
  return row ?? null;
}

/** The workspace of a workbook. */
export async function findWorkspaceOf(orm: Orm, workbookId: string): Promise<WorkspaceRecord | null> {
  const [row] = await orm
    .select({ workspace: workspaces })
    .from(workbooks)
    .innerJoin(workspaces, eq(workspaces.id, workbooks.workspaceId))
    .where(eq(workbooks.id, workbookId));
  return row?.workspace ?? null;
}

export async function insertWorkspace(tx: Tx, workspace: typeof workspaces.$inferInsert, ownerId: string): Promise<WorkspaceRecord> {
  const [row] = await tx.orm.insert(workspaces).values(workspace).returning();
  await tx.orm.insert(members).values({ workspaceId: workspace.id, userId: ownerId, role: 'admin' });
  return row as WorkspaceRecord;
}

export async function updateWorkspace(tx: Tx, id: string, fields: Partial<typeof workspaces.$inferInsert>): Promise<WorkspaceRecord> {
  const [row] = await tx.orm.update(workspaces).set(fields).where(eq(workspaces.id, id)).returning();
  return row as WorkspaceRecord;
}

/** Until the transaction ends, `keepMembership` waits: nobody creates a workbook in it or hides one. */
export async function lockWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.orm.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId)).for('update');
}

/**
 * Whether the workspace is there and the user its owner or a member. If so, that stays until the transaction ends. The lock is a
 * statement of its own, so that members are read as they are after it was granted.
 */
export async function keepMembership(tx: Tx, workspaceId: string, userId: string): Promise<boolean> {
  const [workspace] = await tx.orm
    .select({ accountId: workspaces.accountId })
    .from(workspaces)
    .where(and(eq(workspaces.id, workspaceId), isNull(workspaces.deletedAt)))
    .for('share');
  if (!workspace) return false;
  const [found] = await tx.orm
    .select({ id: accounts.id })
    .from(accounts)
    .leftJoin(members, and(eq(members.workspaceId, workspaceId), eq(members.userId, userId)))
    .where(and(eq(accounts.id, workspace.accountId), or(eq(accounts.ownerId, userId), eq(members.userId, userId))));
  return found !== undefined;
}

/** Whether the workspace has workbooks. Call it after locking the workspace. */
export async function hasWorkbooks(tx: Tx, workspaceId: string): Promise<boolean> {
  const [row] = await tx.orm
    .select({ id: workbooks.id })
    .from(workbooks)
    .where(and(eq(workbooks.workspaceId, workspaceId), isNull(workbooks.deletedAt)))
    .limit(1);
  return row !== undefined;
}

export interface MemberRecord {
  user: UserRecord;
  role: BaseRole;
  roles: string[];
}

export async function listMembers(
  orm: Orm,
  workspaceId: string,
  page: { userId?: string; after?: string | null; limit?: number } = {},
): Promise<MemberRecord[]> {
  return orm
    .select({ user: users, role: members.role, roles: members.roles })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        eq(members.workspaceId, workspaceId),
        page.userId === undefined ? undefined : eq(members.userId, page.userId),
        page.after == null ? undefined : gt(users.id, page.after),
      ),
    )
    .orderBy(asc(users.id))
    .limit(page.limit ?? 1000);
}

export async function insertMember(tx: Tx, member: typeof members.$inferInsert): Promise<boolean> {
  const rows = await tx.orm.insert(members).values(member).onConflictDoNothing().returning({ userId: members.userId });
  return rows.length > 0;
}

export async function setMemberRoles(tx: Tx, workspaceId: string, userId: string, roles: string[]): Promise<void> {
  await tx.orm
    .update(members)
    .set({ roles })
    .where(and(eq(members.workspaceId, workspaceId), eq(members.userId, userId)));
}

export async function deleteMember(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  await tx.orm.delete(members).where(and(eq(members.workspaceId, workspaceId), eq(members.userId, userId)));
}

/** Returns false if the member has this role already. */
export async function setMemberRole(tx: Tx, workspaceId: string, userId: string, role: BaseRole): Promise<boolean> {
  const { rowCount } = await tx.orm
    .update(members)
    .set({ role })
    .where(and(eq(members.workspaceId, workspaceId), eq(members.userId, userId), ne(members.role, role)));
  return rowCount === 1;
}
