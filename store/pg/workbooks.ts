import { and, desc, eq, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import type { BaseRole } from '../../core/access/roles.ts';
import { accounts, members, workbooks, workspaces } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database, Orm } from './database.ts';
import { defineLookup } from './lookups.ts';
import { selectColumns } from './selectColumns.ts';
import { keepMembership } from './workspaces.ts';

export type WorkbookRecord = typeof workbooks.$inferSelect;

export interface VisibleWorkbook extends WorkbookRecord {
  role: BaseRole;
  customRoles: string[];
}

export interface WorkbookFilter {
  userId: string;
  /** The caller's accounts: one for a token or key, for a session all of the user's. */
  accountIds: readonly string[];
  /** Set for credentials that are limited to one workbook. */
  id?: string;
  workspaceId?: string;
  ownedOnly?: boolean;
  before?: string | null;
  limit?: number;
}

/** Workbooks that the user may see, newest first: their own, and the shared ones of their workspaces. */
export async function listVisibleWorkbooks(orm: Orm, filter: WorkbookFilter): Promise<VisibleWorkbook[]> {
  const rows = await orm
    .select({
      workbook: workbooks,
      role: sql<BaseRole>`CASE WHEN ${accounts.ownerId} = ${filter.userId} THEN 'admin' ELSE ${members.role} END`,
      customRoles: members.roles,
    })
    .from(workbooks)
    .innerJoin(accounts, and(eq(accounts.id, workbooks.accountId), isNull(accounts.deletedAt)))
    .innerJoin(workspaces, and(eq(workspaces.id, workbooks.workspaceId), isNull(workspaces.deletedAt)))
    .leftJoin(members, and(eq(members.workspaceId, workbooks.workspaceId), eq(members.userId, filter.userId)))
    .where(
      and(
        isNull(workbooks.deletedAt),
        or(eq(accounts.ownerId, filter.userId), eq(members.userId, filter.userId)),
        or(eq(workbooks.visibility, 'workspace'), eq(workbooks.ownerId, filter.userId)),
        inArray(workbooks.accountId, [...filter.accountIds]),
        filter.id === undefined ? undefined : eq(workbooks.id, filter.id),
        filter.workspaceId === undefined ? undefined : eq(workbooks.workspaceId, filter.workspaceId),
        filter.ownedOnly ? eq(workbooks.ownerId, filter.userId) : undefined,
        filter.before == null ? undefined : lt(workbooks.id, filter.before),
      ),
    )
    .orderBy(desc(workbooks.id))
    .limit(filter.limit ?? 1000);
  return rows.map(({ workbook, role, customRoles }) => ({ ...workbook, role, customRoles: customRoles ?? [] }));
}

/** The workbook `k.a` as the user `k.asker` may see it in the account `k.account`; an empty one stands for any. */
export const seenWorkbook = `
   SELECT ${selectColumns(workbooks, 'w')},
     CASE WHEN a.owner_id = k.asker THEN 'admin' ELSE m.role END AS role, coalesce(m.roles, '{}') AS "customRoles"
   FROM workbooks w
   JOIN accounts a ON a.id = w.account_id AND a.deleted_at IS NULL
   JOIN workspaces s ON s.id = w.workspace_id AND s.deleted_at IS NULL
   LEFT JOIN members m ON m.workspace_id = w.workspace_id AND m.user_id = k.asker
   WHERE w.id = k.a AND w.deleted_at IS NULL AND (a.owner_id = k.asker OR m.user_id = k.asker)
     AND (w.visibility = 'workspace' OR w.owner_id = k.asker) AND k.account IN ('', w.account_id) LIMIT 1`;

/** By workbook id, and by user id and account id in one text. */
const visibleWorkbook = defineLookup<VisibleWorkbook>('visible_workbook', seenWorkbook, [
  "split_part(b, ' ', 1) AS asker",
  "split_part(b, ' ', 2) AS account",
]);

/** The same rules as `listVisibleWorkbooks`, in one look-up, because nearly every request needs it. */
export async function findVisibleWorkbook(
  db: Database,
  wanted: { id: string; userId: string; accountId: string | null },
): Promise<VisibleWorkbook | null> {
  return db.lookUpInAccounts(visibleWorkbook, wanted.id, `${wanted.userId} ${wanted.accountId ?? ''}`);
}

export async function findWorkbook(orm: Orm, id: string): Promise<WorkbookRecord | null> {
  const [row] = await orm
    .select()
    .from(workbooks)
    .where(and(eq(workbooks.id, id), isNull(workbooks.deletedAt)));
  return row ?? null;
}

/** Null: the workspace was deleted meanwhile, or the owner has left it. */
export async function insertWorkbook(tx: Tx, workbook: typeof workbooks.$inferInsert): Promise<WorkbookRecord | null> {
  if (!(await keepMembership(tx, workbook.workspaceId, workbook.ownerId))) return null;
  const [row] = await tx.orm.insert(workbooks).values(workbook).returning();
  return row as WorkbookRecord;
}

export async function updateWorkbook(tx: Tx, id: string, fields: Partial<typeof workbooks.$inferInsert>): Promise<WorkbookRecord | null> {
  const [row] = await tx.orm
    .update(workbooks)
    .set({ ...fields, updatedAt: tx.at })
    .where(and(eq(workbooks.id, id), isNull(workbooks.deletedAt)))
    .returning();
  return row ?? null;
}

/** Gives the private workbooks that a user has in a workspace to another one; returns their ids. */
export async function handOverWorkbooks(tx: Tx, workspaceId: string, users: { from: string; to: string }): Promise<string[]> {
  const rows = await tx.orm
    .update(workbooks)
    .set({ ownerId: users.to, updatedAt: tx.at })
    .where(
      and(
        eq(workbooks.workspaceId, workspaceId),
        eq(workbooks.ownerId, users.from),
        eq(workbooks.visibility, 'private'),
        isNull(workbooks.deletedAt),
      ),
    )
    .returning({ id: workbooks.id });
  return rows.map(({ id }) => id);
}
