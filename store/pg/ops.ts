import { and, asc, count, desc, eq, getTableColumns, gt, inArray, isNull, lt, lte, notInArray, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { heads, ops, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type OpRecord = typeof ops.$inferSelect;

/** Newest first. Ops on archived or deleted tables are not undoable. */
export async function listOps(orm: Orm, workbookId: string, page: { before: number | null; limit: number }): Promise<OpRecord[]> {
  return orm
    .select({ ...getTableColumns(ops), undoable: sql<boolean>`${ops.undoable} AND coalesce(${tables.state} = 'active', false)` })
    .from(ops)
    .leftJoin(tables, and(eq(tables.id, ops.tableId), isNull(tables.deletedAt)))
    .where(and(eq(ops.scope, workbookId), page.before === null ? undefined : lt(ops.opId, page.before)))
    .orderBy(desc(ops.opId))
    .limit(page.limit);
}

export async function findOp(orm: Orm, workbookId: string, opId: number): Promise<OpRecord | null> {
  const [row] = await orm
    .select()
    .from(ops)
    .where(and(eq(ops.scope, workbookId), eq(ops.opId, opId)));
  return row ?? null;
}

/** The op that made each version of a table in a range: the first with that version. Later ones, such as archiving, made none. */
function selectVersionOps(orm: Orm, tableId: string, range: { after: number; upTo: number }) {
  return orm
    .selectDistinctOn([ops.editVersion])
    .from(ops)
    .where(and(eq(ops.tableId, tableId), sql`table_id IS NOT NULL`, gt(ops.editVersion, range.after), lte(ops.editVersion, range.upTo)))
    .orderBy(asc(ops.editVersion), asc(ops.opId))
    .as('version_ops');
}

/** The ops that made versions in a range, except those of some kinds; `versions` counts all of them. */
export async function listVersionOpsExcept(
  orm: Orm,
  tableId: string,
  range: { after: number; upTo: number },
  kinds: string[],
): Promise<{ ops: OpRecord[]; versions: number }> {
  const versionOps = selectVersionOps(orm, tableId, range);
  const [others, [counted]] = await Promise.all([
    orm.select().from(versionOps).where(notInArray(versionOps.kind, kinds)).orderBy(asc(versionOps.editVersion)),
    orm.select({ versions: count() }).from(versionOps),
  ]);
  return { ops: others, versions: counted?.versions ?? 0 };
}

/** The ops that made some versions, by version. */
export async function findVersionOps(orm: Orm, tableId: string, versions: number[]): Promise<Map<number, OpRecord>> {
  if (versions.length === 0) return new Map();
  const rows = await orm
    .selectDistinctOn([ops.editVersion])
    .from(ops)
    .where(and(eq(ops.tableId, tableId), sql`table_id IS NOT NULL`, inArray(ops.editVersion, versions)))
    .orderBy(asc(ops.editVersion), asc(ops.opId));
  return new Map(rows.map((row) => [row.editVersion ?? 0, row]));
}

/** Versions after a given one that cancel each other out: those of undone ops and of the ops that undid them. */
export async function listCancelledVersions(orm: Orm, tableId: string, after: number): Promise<Set<number>> {
  const undoing = alias(ops, 'undoing');
  const rows = await orm
    .select({ undone: ops.editVersion, undoing: undoing.editVersion })
    .from(ops)
    .innerJoin(undoing, and(eq(undoing.scope, ops.scope), eq(undoing.opId, ops.undoneBy)))
    .where(and(eq(ops.tableId, tableId), sql`${ops.tableId} IS NOT NULL`, gt(ops.editVersion, after)));
  return new Set(rows.flatMap((row) => [row.undone ?? 0, row.undoing ?? 0]));
}

/** The versions of a table that merges of a branch made, oldest first. */
export async function listMergedVersions(orm: Orm, tableId: string, branchId: string): Promise<number[]> {
  const rows = await orm
    .select({ version: ops.editVersion })
    .from(ops)
    .where(and(eq(ops.tableId, tableId), sql`${ops.tableId} IS NOT NULL`, eq(ops.kind, 'merge.apply'), eq(ops.codeRef, branchId)))
    .orderBy(asc(ops.editVersion));
  return rows.flatMap(({ version }) => version ?? []);
}

/**
 * Marks an op as undone by the workbook's next op, which this transaction is about to write. Locks the head row to know its
 * number; the table's row must be locked before, as in every change. Returns false if the op was undone already.
 */
export async function markUndone(tx: Tx, workbookId: string, opId: number): Promise<boolean> {
  const [head] = await tx.orm.select({ opSeq: heads.opSeq }).from(heads).where(eq(heads.scope, workbookId)).for('update');
  if (!head) throw new Error(`no head for ${workbookId}`);
  const marked = await tx.orm
    .update(ops)
    .set({ undoneBy: head.opSeq + 1 })
    .where(and(eq(ops.scope, workbookId), eq(ops.opId, opId), isNull(ops.undoneBy)))
    .returning({ opId: ops.opId });
  return marked.length === 1;
}
