import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm';
import type pg from 'pg';
import { decodeTime, ulid } from 'ulid';
import type { Layer } from '../../core/table/table.ts';
import { namedVersions, snapshots, snapshotTables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import { brokenConstraint, type Orm } from './database.ts';

export type SnapshotRecord = typeof snapshots.$inferSelect;
export type SnapshotTable = typeof snapshotTables.$inferSelect;
export type NamedVersion = typeof namedVersions.$inferSelect;

/** The snapshot that collects current edits. It gets a row only when it is committed. */
export interface EditingSnapshot {
  id: string;
  openedAt: Date;
}

/** The id of a workbook's first snapshot is made from the workbook's id; later ones are given by their predecessor. */
export async function findEditingSnapshot(orm: Orm, workbook: { id: string; createdAt: Date }): Promise<EditingSnapshot> {
  const [newest] = await listSnapshots(orm, { workbookId: workbook.id, limit: 1 });
  return newest
    ? { id: newest.nextId, openedAt: newest.committedAt }
    : { id: `snp_${workbook.id.slice('wb_'.length)}`, openedAt: workbook.createdAt };
}

/** Snapshots are listed by id, so each id must sort after the one before, even if clocks of processes differ. */
function makeNextId(id: string): string {
  return `snp_${ulid(Math.max(Date.now(), decodeTime(id.slice('snp_'.length)) + 1))}`;
}

export interface SnapshotFilter {
  workbookId: string;
  before?: string | null;
  limit: number;
}

/** Committed snapshots, newest first. */
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

/** The tables of snapshots, by snapshot id, in order of names. */
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

/** The version of a table in a snapshot. Undefined: no such snapshot; null: the table is not in it. */
export async function findVersionInSnapshot(
  orm: Orm,
  workbookId: string,
  snapshotId: string,
  tableId: string,
): Promise<number | null | undefined> {
  const [row] = await orm
    .select({ editVersion: snapshotTables.editVersion })
    .from(snapshots)
    .leftJoin(snapshotTables, and(eq(snapshotTables.snapshotId, snapshots.id), eq(snapshotTables.tableId, tableId)))
    .where(and(eq(snapshots.id, snapshotId), eq(snapshots.workbookId, workbookId)));
  return row === undefined ? undefined : row.editVersion;
}

/** The labels of snapshots, by snapshot id. */
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
 * Commits the editing snapshot. One statement records the versions, names and states of all tables, so that they belong to
 * the same moment. Returns null if it was committed by somebody else meanwhile.
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
  // Each inserted row locks its table; in order of ids, as every change that locks several tables.
  await tx.client.query(
    `INSERT INTO snapshot_tables (snapshot_id, table_id, name, state, description, edit_version, version_uid)
     SELECT $1, id, name, state, description, edit_version, version_uid FROM tables WHERE workbook_id = $2 AND deleted_at IS NULL ORDER BY id`,
    [made.editing.id, made.workbookId],
  );
  const held = await listSnapshotTables(tx.orm, [made.editing.id]);
  return { snapshot: snapshot as SnapshotRecord, tables: held.get(made.editing.id) ?? [] };
}

/** Null: the label is taken. */
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

/** Labels are stored trimmed. */
export async function findNamedVersion(orm: Orm, workbookId: string, label: string): Promise<NamedVersion | null> {
  const [row] = await orm
    .select()
    .from(namedVersions)
    .where(and(eq(namedVersions.workbookId, workbookId), eq(namedVersions.label, label)));
  return row ?? null;
}

/** Newest first, by the id of the snapshot that each version has. */
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

/** How many entries the closed log layers of tables hold; an estimate where entries are in files. */
export async function countLogEntries(
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
