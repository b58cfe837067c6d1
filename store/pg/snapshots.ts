import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm';
import type pg from 'pg';
import { decodeTime, ulid } from 'ulid';
import type { Layer } from '../../core/table/table.ts';
import { namedVersions, snapshots, snapshotTables, tableColumns } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import { brokenConstraint, type Orm } from './database.ts';

export type SnapshotRecord = typeof snapshots.$inferSelect;
export type SnapshotTable = typeof snapshotTables.$inferSelect;
export type NamedVersion = typeof namedVersions.$inferSelect;
export type ColumnRow = typeof tableColumns.$inferSelect;

/** The snapshot that edits land on. It has an id and a beginning, and a row only once it is committed. */
export interface EditingSnapshot {
  id: string;
  openedAt: Date;
}

/** What follows the newest committed one; a new workbook's first has the workbook's own number. */
export async function findEditingSnapshot(orm: Orm, workbook: { id: string; createdAt: Date }): Promise<EditingSnapshot> {
  const [newest] = await listSnapshots(orm, { workbookId: workbook.id, limit: 1 });
  return newest
    ? { id: newest.nextId, openedAt: newest.committedAt }
    : { id: `snp_${workbook.id.slice('wb_'.length)}`, openedAt: workbook.createdAt };
}

/** Later than the id given, whatever the clocks of the processes say: snapshots are listed by id. */
function makeNextId(id: string): string {
  return `snp_${ulid(Math.max(Date.now(), decodeTime(id.slice('snp_'.length)) + 1))}`;
}

export interface SnapshotFilter {
  workbookId: string;
  before?: string | null;
  limit: number;
}

/** Committed ones, newest first. */
export async function listSnapshots(orm: Orm, filter: SnapshotFilter): Promise<SnapshotRecord[]> {
  return orm
    .select()
    .from(snapshots)
    .where(and(eq(snapshots.workbookId, filter.workbookId), filter.before == null ? undefined : lt(snapshots.id, filter.before)))
    .orderBy(desc(snapshots.id))
    .limit(filter.limit);
}

export async function findSnapshot(orm: Orm, workbookId: string, id: string): Promise<SnapshotRecord | null> {
  const [row] = await orm
    .select()
    .from(snapshots)
    .where(and(eq(snapshots.workbookId, workbookId), eq(snapshots.id, id)));
  return row ?? null;
}

/** What snapshots hold, by snapshot, in the order of names. */
export async function listSnapshotTables(orm: Orm, snapshotIds: string[]): Promise<Map<string, SnapshotTable[]>> {
  const held = new Map<string, SnapshotTable[]>(snapshotIds.map((id) => [id, []]));
  if (snapshotIds.length === 0) return held;
  const rows = await orm
    .select()
    .from(snapshotTables)
    .where(inArray(snapshotTables.snapshotId, snapshotIds))
    .orderBy(asc(snapshotTables.name), asc(snapshotTables.tableId));
  for (const row of rows) held.get(row.snapshotId)?.push(row);
  return held;
}

/** The labels on snapshots, by snapshot. */
export async function listLabels(orm: Orm, snapshotIds: string[]): Promise<Map<string, string[]>> {
  const labels = new Map<string, string[]>(snapshotIds.map((id) => [id, []]));
  if (snapshotIds.length === 0) return labels;
  const rows = await orm
    .select()
    .from(namedVersions)
    .where(inArray(namedVersions.snapshotId, snapshotIds))
    .orderBy(asc(namedVersions.label));
  for (const row of rows) labels.get(row.snapshotId)?.push(row.label);
  return labels;
}

export interface NewSnapshot {
  workbookId: string;
  editing: EditingSnapshot;
  summary: string;
  eventType: string;
}

/**
 * Commits the editing snapshot. The versions, names and states of all tables are taken in one statement, so they are
 * those of one moment; it writes one row for each table, whatever the tables hold. Null when another commit was faster.
 */
export async function insertSnapshot(tx: Tx, made: NewSnapshot): Promise<{ snapshot: SnapshotRecord; tables: SnapshotTable[] } | null> {
  let snapshot: SnapshotRecord | undefined;
  try {
    [snapshot] = await tx.orm
      .insert(snapshots)
      .values({
        id: made.editing.id,
        workbookId: made.workbookId,
        summary: made.summary,
        eventType: made.eventType,
        userId: tx.actor.userId,
        actor: tx.actor.name,
        openedAt: made.editing.openedAt,
        committedAt: tx.at,
        nextId: makeNextId(made.editing.id),
      })
      .returning();
  } catch (error) {
    if (brokenConstraint(error) === 'snapshots_pkey') return null;
    throw error;
  }
  // Each row locks the table that it refers to: in ascending id, as whoever else locks several does.
  await tx.client.query(
    `INSERT INTO snapshot_tables (snapshot_id, table_id, name, state, description, edit_version, version_uid)
     SELECT $1, id, name, state, description, edit_version, version_uid FROM tables WHERE workbook_id = $2 AND deleted_at IS NULL ORDER BY id`,
    [made.editing.id, made.workbookId],
  );
  const held = await listSnapshotTables(tx.orm, [made.editing.id]);
  return { snapshot: snapshot as SnapshotRecord, tables: held.get(made.editing.id) ?? [] };
}

/** Null when the label is taken. */
export async function insertNamedVersion(
  tx: Tx,
  made: { workbookId: string; label: string; snapshotId: string; summary: string | null },
): Promise<NamedVersion | null> {
  const [row] = await tx.orm
    .insert(namedVersions)
    .values({ ...made, userId: tx.actor.userId, createdAt: tx.at })
    .onConflictDoNothing()
    .returning();
  return row ?? null;
}

/** Labels are kept without blanks around them, and found by what they were given as. */
export async function findNamedVersion(orm: Orm, workbookId: string, label: string): Promise<NamedVersion | null> {
  const [row] = await orm
    .select()
    .from(namedVersions)
    .where(and(eq(namedVersions.workbookId, workbookId), eq(namedVersions.label, label.trim())));
  return row ?? null;
}

/** Newest first; each version has a snapshot of its own, whose id is the order. */
export async function listNamedVersions(orm: Orm, filter: SnapshotFilter): Promise<NamedVersion[]> {
  return orm
    .select()
    .from(namedVersions)
    .where(
      and(eq(namedVersions.workbookId, filter.workbookId), filter.before == null ? undefined : lt(namedVersions.snapshotId, filter.before)),
    )
    .orderBy(desc(namedVersions.snapshotId))
    .limit(filter.limit);
}

/** The columns of tables, each at a version, as they are kept. */
export async function listColumnRows(orm: Orm, versions: Map<string, number>): Promise<Map<string, ColumnRow[]>> {
  const byTable = new Map<string, ColumnRow[]>([...versions.keys()].map((id) => [id, []]));
  const rows = await orm
    .select()
    .from(tableColumns)
    .where(inArray(tableColumns.tableId, [...versions.keys()]))
    .orderBy(asc(tableColumns.position));
  for (const row of rows) {
    const version = versions.get(row.tableId) ?? 0;
    if (row.fromVersion <= version && (row.toVersion === null || row.toVersion > version)) byTable.get(row.tableId)?.push(row);
  }
  return byTable;
}

/** How many entries the closed log layers of tables hold, about as many where they are in files: what a compaction would fold. */
export async function countLogged(
  pool: pg.Pool | pg.PoolClient,
  tables: { tableId: string; layers: Layer[] }[],
): Promise<Map<string, number>> {
  const ranges = tables.flatMap(({ tableId, layers }) =>
    layers.flatMap((layer) => (layer.kind === 'log' && layer.upTo !== null ? [{ id: tableId, after: layer.after, upTo: layer.upTo }] : [])),
  );
  if (ranges.length === 0) return new Map();
  const { rows } = await pool.query<{ id: string; logged: number }>(
    `SELECT r.id, sum(
        (SELECT count(*) FROM row_log l WHERE l.table_id = r.id AND l.edit_version > r.after AND l.edit_version <= r."upTo")
        + (SELECT coalesce(sum(f.rows), 0) FROM log_files f
           WHERE f.table_id = r.id AND f.kind = 'log' AND f.up_to > r.after AND f.after < r."upTo"))::integer AS logged
     FROM jsonb_to_recordset($1) AS r(id text, after bigint, "upTo" bigint) GROUP BY r.id`,
    [JSON.stringify(ranges)],
  );
  return new Map(rows.map(({ id, logged }) => [id, logged]));
}
