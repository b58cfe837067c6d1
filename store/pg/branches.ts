import { and, asc, desc, eq, getTableColumns, gt, isNull, lt, or } from 'drizzle-orm';
import { branches, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type BranchRecord = typeof branches.$inferSelect;

export async function insertBranch(tx: Tx, records: Omit<BranchRecord, 'createdAt' | 'lastMergedAt'>[]): Promise<void> {
  await tx.orm.insert(branches).values(records.map((record) => ({ ...record, createdAt: tx.at })));
}

/** The tables of a branch in the order of its file; none: there is no such branch. */
export async function listBranchTables(orm: Orm, branchId: string): Promise<BranchRecord[]> {
  return orm.select().from(branches).where(eq(branches.id, branchId)).orderBy(asc(branches.position));
}

export interface BranchKey {
  id: string;
  position: number;
}

export type ListedBranch = BranchRecord & { tableName: string };

/** Newest first, after a key. Those of deleted tables are left out. */
export async function listBranches(
  orm: Orm,
  page: { workbookId: string; after: BranchKey | null; limit: number },
): Promise<ListedBranch[]> {
  const { workbookId, after, limit } = page;
  const isLeft = after && or(lt(branches.id, after.id), and(eq(branches.id, after.id), gt(branches.position, after.position)));
  return orm
    .select({ ...getTableColumns(branches), tableName: tables.name })
    .from(branches)
    .innerJoin(tables, eq(tables.id, branches.tableId))
    .where(and(eq(branches.workbookId, workbookId), isNull(tables.deletedAt), isLeft ?? undefined))
    .orderBy(desc(branches.id), asc(branches.position))
    .limit(limit);
}

export async function touchBranch(tx: Tx, branchId: string, tableId: string): Promise<void> {
  await tx.orm
    .update(branches)
    .set({ lastMergedAt: tx.at })
    .where(and(eq(branches.id, branchId), eq(branches.tableId, tableId)));
}
