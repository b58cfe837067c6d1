import { and, asc, desc, eq, getTableColumns, lt, or } from 'drizzle-orm';
import type { OverriddenCell } from '../../core/overrides/override.ts';
import { conflicts, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type ConflictRecord = typeof conflicts.$inferSelect;
export type ConflictStatus = ConflictRecord['status'];
export type NewConflict = Omit<ConflictRecord, 'status' | 'createdAt' | 'resolvedAt' | 'resolvedBy'>;

const rowsAtOnce = 1000;

export async function insertConflicts(tx: Tx, records: NewConflict[]): Promise<void> {
  for (let from = 0; from < records.length; from += rowsAtOnce)
    await tx.orm
      .insert(conflicts)
      .values(records.slice(from, from + rowsAtOnce).map((record) => ({ ...record, status: 'open' as const, createdAt: tx.at })));
}

export type ListedConflict = ConflictRecord & { tableName: string };

function selectConflicts(orm: Orm) {
  return orm
    .select({ ...getTableColumns(conflicts), tableName: tables.name })
    .from(conflicts)
    .innerJoin(tables, eq(tables.id, conflicts.tableId));
}

/** Newest first. */
export async function listConflicts(
  orm: Orm,
  page: { workbookId: string; status: ConflictStatus | null; before: string | null; limit: number },
): Promise<ListedConflict[]> {
  const { workbookId, status, before, limit } = page;
  const isStatus = status === null ? undefined : eq(conflicts.status, status);
  const isLeft = before === null ? undefined : lt(conflicts.id, before);
  return selectConflicts(orm)
    .where(and(eq(conflicts.workbookId, workbookId), isStatus, isLeft))
    .orderBy(desc(conflicts.id))
    .limit(limit);
}

export async function findConflict(orm: Orm, workbookId: string, id: string): Promise<ListedConflict | null> {
  const [row] = await selectConflicts(orm).where(and(eq(conflicts.workbookId, workbookId), eq(conflicts.id, id)));
  return row ?? null;
}

/** Ids of the conflicts that versions of tables opened. */
export async function listConflictsOf(orm: Orm, versions: { tableId: string; editVersion: number }[]): Promise<string[]> {
  if (versions.length === 0) return [];
  const isOf = versions.map(({ tableId, editVersion }) => and(eq(conflicts.tableId, tableId), eq(conflicts.editVersion, editVersion)));
  const rows = await orm
    .select({ id: conflicts.id })
    .from(conflicts)
    .where(and(eq(conflicts.kind, 'overwrite'), or(...isOf)))
    .orderBy(asc(conflicts.id));
  return rows.map(({ id }) => id);
}

/** Returns false if it was closed already. */
export async function closeConflict(tx: Tx, id: string, status: ConflictStatus, current: string | null): Promise<boolean> {
  const closed = await tx.orm
    .update(conflicts)
    .set({ status, current, resolvedAt: tx.at, resolvedBy: tx.actor.name })
    .where(and(eq(conflicts.id, id), eq(conflicts.status, 'open')))
    .returning({ id: conflicts.id });
  return closed.length === 1;
}

const openOverride = `c.table_id = $1 AND c.kind = 'stale_override' AND c.status = 'open' AND c.row_id = given.row_id AND c.column_id = given.column_id`;

/** Tells open conflicts on overrides what lies below these now. Returns the cells that have one. */
export async function updateOverrideConflicts(
  tx: Tx,
  tableId: string,
  editVersion: number,
  moved: readonly (OverriddenCell & { prior: string | null })[],
): Promise<OverriddenCell[]> {
  if (moved.length === 0) return [];
  const { rows } = await tx.client.query<OverriddenCell>(
    `UPDATE conflicts c SET prior = given.prior, edit_version = $2
     FROM unnest($3::bigint[], $4::integer[], $5::text[]) AS given (row_id, column_id, prior)
     WHERE ${openOverride} RETURNING c.row_id::float8 AS "rowId", c.column_id AS "columnId"`,
    [tableId, editVersion, moved.map(({ rowId }) => rowId), moved.map(({ columnId }) => columnId), moved.map(({ prior }) => prior)],
  );
  return rows;
}

/** Closes the open conflicts on overrides of cells that were edited; returns their ids. */
export async function closeOverrideConflicts(
  tx: Tx,
  tableId: string,
  status: 'acknowledged' | 'override_dropped',
  cells: readonly (OverriddenCell & { value: string | null })[],
): Promise<string[]> {
  if (cells.length === 0) return [];
  const { rows } = await tx.client.query<{ id: string }>(
    `UPDATE conflicts c SET status = $2, current = given.value, resolved_at = $6, resolved_by = $7
     FROM unnest($3::bigint[], $4::integer[], $5::text[]) AS given (row_id, column_id, value) WHERE ${openOverride} RETURNING c.id`,
    [
      tableId,
      status,
      cells.map(({ rowId }) => rowId),
      cells.map(({ columnId }) => columnId),
      cells.map(({ value }) => value),
      tx.at,
      tx.actor.name,
    ],
  );
  return rows.map(({ id }) => id);
}
