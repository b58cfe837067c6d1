import { and, asc, count, desc, eq, getTableColumns, gt, inArray, isNull, lt, lte, notInArray, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { heads, ops, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type OpRecord = typeof ops.$inferSelect;

/** Newest first. What was done to a table that is archived or gone cannot be undone. */
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

/** The op that made each version of a table in a range: the first that names it. Archiving and the like come after. */
function versionMakers(orm: Orm, tableId: string, range: { after: number; upTo: number }) {
  return orm
    .selectDistinctOn([ops.editVersion])
    .from(ops)
    .where(and(eq(ops.tableId, tableId), sql`table_id IS NOT NULL`, gt(ops.editVersion, range.after), lte(ops.editVersion, range.upTo)))
    .orderBy(asc(ops.editVersion), asc(ops.opId))
    .as('makers');
}

/** Makers of versions in a range, but for those of some kinds; and how many versions have a maker at all. */
export async function listMakersBut(
  orm: Orm,
  tableId: string,
  range: { after: number; upTo: number },
  kinds: string[],
): Promise<{ makers: OpRecord[]; versions: number }> {
  const makers = versionMakers(orm, tableId, range);
  const [others, [counted]] = await Promise.all([
    orm.select().from(makers).where(notInArray(makers.kind, kinds)).orderBy(asc(makers.editVersion)),
    orm.select({ versions: count() }).from(makers),
  ]);
  return { makers: others, versions: counted?.versions ?? 0 };
}

/** Makers of some versions, by version. */
export async function findMakers(orm: Orm, tableId: string, versions: number[]): Promise<Map<number, OpRecord>> {
  if (versions.length === 0) return new Map();
  const rows = await orm
    .selectDistinctOn([ops.editVersion])
    .from(ops)
    .where(and(eq(ops.tableId, tableId), sql`table_id IS NOT NULL`, inArray(ops.editVersion, versions)))
    .orderBy(asc(ops.editVersion), asc(ops.opId));
  return new Map(rows.map((row) => [row.editVersion ?? 0, row]));
}

/** Versions after one that cancel each other: those of ops that were undone, and of the ops that undid them. */
export async function listCancelledVersions(orm: Orm, tableId: string, after: number): Promise<Set<number>> {
  const undoing = alias(ops, 'undoing');
  const rows = await orm
    .select({ undone: ops.editVersion, undoing: undoing.editVersion })
    .from(ops)
    .innerJoin(undoing, and(eq(undoing.scope, ops.scope), eq(undoing.opId, ops.undoneBy)))
    .where(and(eq(ops.tableId, tableId), sql`${ops.tableId} IS NOT NULL`, gt(ops.editVersion, after)));
  return new Set(rows.flatMap((row) => [row.undone ?? 0, row.undoing ?? 0]));
}

/**
 * Marks an op as undone by the next op of the workbook, the one that this transaction is about to note. The head row's
 * lock is what gives that number; it is taken here, after the table's, as everywhere. False when it was undone already.
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
