import { and, asc, eq, getTableColumns, gt, inArray, isNull, sql } from 'drizzle-orm';
import type pg from 'pg';
import { anyChange, type Change } from '../../core/lineage/staleness.ts';
import type { Freshness } from '../../core/transforms/transform.ts';
import { tableInputs, tables, transforms } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type TransformRecord = Omit<typeof transforms.$inferSelect, 'nameKey'>;

const { nameKey: _, ...fields } = getTableColumns(transforms);
const live = isNull(transforms.deletedAt);

/** The transforms of a workbook by name. */
export async function listTransforms(orm: Orm, workbookId: string, after: string | null, limit = 10_000): Promise<TransformRecord[]> {
  return orm
    .select(fields)
    .from(transforms)
    .where(and(eq(transforms.workbookId, workbookId), live, after === null ? undefined : gt(transforms.nameKey, after)))
    .orderBy(asc(transforms.nameKey))
    .limit(limit);
}

export async function findTransform(orm: Orm, workbookId: string, name: string): Promise<TransformRecord | null> {
  const [row] = await orm
    .select(fields)
    .from(transforms)
    .where(and(eq(transforms.workbookId, workbookId), live, eq(transforms.nameKey, sql`lower(${name})`)));
  return row ?? null;
}

export async function listTransformsById(orm: Orm, ids: string[]): Promise<TransformRecord[]> {
  if (ids.length === 0) return [];
  return orm
    .select(fields)
    .from(transforms)
    .where(and(inArray(transforms.id, ids), live));
}

export async function listTransformsOfOutputs(orm: Orm, tableIds: string[]): Promise<TransformRecord[]> {
  if (tableIds.length === 0) return [];
  return orm
    .select(fields)
    .from(transforms)
    .where(and(inArray(transforms.outputId, tableIds), live));
}

export async function insertTransform(tx: Tx, row: typeof transforms.$inferInsert): Promise<void> {
  await tx.orm.insert(transforms).values(row);
}

export async function updateTransform(orm: Orm, id: string, changed: Partial<typeof transforms.$inferInsert>): Promise<void> {
  await orm
    .update(transforms)
    .set(changed)
    .where(and(eq(transforms.id, id), live));
}

/** Lets one transaction at a time change what is derived from what in a workbook. */
export async function lockGraph(tx: Tx, workbookId: string): Promise<void> {
  await tx.client.query('SELECT 1 FROM workbooks WHERE id = $1 FOR NO KEY UPDATE', [workbookId]);
}

/** Where tables stand now. They stay there, and stay active or archived, until the transaction ends. */
export async function holdInputs(tx: Tx, ids: string[]): Promise<Map<string, { editVersion: number; isActive: boolean }>> {
  const { rows } = await tx.client.query<{ id: string; version: string; active: boolean }>(
    `SELECT id, edit_version AS version, state = 'active' AND deleted_at IS NULL AS active FROM tables WHERE id = ANY ($1) ORDER BY id FOR SHARE`,
    [ids],
  );
  return new Map(rows.map(({ id, version, active }) => [id, { editVersion: Number(version), isActive: active }]));
}

/** What changed in a table between two versions, as far as the log tells. */
export async function readChange(tx: Tx, tableId: string, range: { after: number; upTo: number }): Promise<Change> {
  const { rows } = await tx.client.query<{ versions: string; rows: boolean | null; columns: number[] }>(
    `SELECT count(DISTINCT l.edit_version) AS versions, bool_or(l.op <> 'U') AS rows,
       coalesce(array_agg(DISTINCT c) FILTER (WHERE c IS NOT NULL), '{}') AS columns
     FROM row_log l LEFT JOIN LATERAL unnest(l.changed) AS c ON true WHERE l.table_id = $1 AND l.edit_version > $2 AND l.edit_version <= $3`,
    [tableId, range.after, range.upTo],
  );
  const [found] = rows;
  // A version without entries was made otherwise.
  if (!found || found.rows || Number(found.versions) < range.upTo - range.after) return anyChange;
  return { rows: false, columns: new Set(found.columns) };
}

export type InputRow = Omit<typeof tableInputs.$inferInsert, 'tableId' | 'kind'>;

/** Replaces what a table was made from. */
export async function replaceInputs(tx: Tx, tableId: string, inputs: InputRow[]): Promise<void> {
  await tx.orm.delete(tableInputs).where(and(eq(tableInputs.tableId, tableId), eq(tableInputs.kind, 'transform')));
  if (inputs.length > 0)
    await tx.orm.insert(tableInputs).values(inputs.map((input) => ({ ...input, tableId, kind: 'transform' as const })));
}

/** What the last runs of transforms have read for these tables. */
export async function listInputs(orm: Orm, tableIds: string[]): Promise<(typeof tableInputs.$inferSelect)[]> {
  if (tableIds.length === 0) return [];
  return orm
    .select()
    .from(tableInputs)
    .where(and(inArray(tableInputs.tableId, tableIds), eq(tableInputs.kind, 'transform')));
}

/** The transforms that read the table, also those that were never run. */
export async function listReaders(orm: Orm, workbookId: string, tableId: string): Promise<TransformRecord[]> {
  const reads = sql`EXISTS (SELECT 1 FROM jsonb_each_text(${transforms.args}) AS arg WHERE arg.value = ${tableId})`;
  return orm
    .select(fields)
    .from(transforms)
    .where(and(eq(transforms.workbookId, workbookId), live, reads))
    .orderBy(asc(transforms.nameKey));
}

/** A transform in the graph of its workbook. */
export interface TransformNode {
  id: string;
  /** Null before its first run. */
  outputId: string | null;
  inputIds: string[];
  staleSince: Date | null;
  moved: string[];
}

const selectNodes = `
  SELECT tr.id, tr.output_id AS "outputId", ARRAY(SELECT DISTINCT value FROM jsonb_each_text(tr.args)) AS "inputIds",
    least((SELECT min(i.stale_since) FROM table_inputs i WHERE i.table_id = tr.output_id AND i.kind = 'transform'),
          CASE WHEN tr.run_revision IS DISTINCT FROM tr.revision THEN tr.updated_at END) AS "staleSince",
    ARRAY(SELECT n.name FROM table_inputs i JOIN tables n ON n.id = i.input_id
          WHERE i.table_id = tr.output_id AND i.kind = 'transform' AND i.stale_since IS NOT NULL ORDER BY n.name) AS moved
  FROM transforms tr WHERE tr.deleted_at IS NULL`;

/** All transforms of a workbook, with what they read and whether their output is stale. */
export async function readGraph(pool: pg.Pool | pg.PoolClient, workbookId: string): Promise<TransformNode[]> {
  const { rows } = await pool.query<TransformNode>(`${selectNodes} AND tr.workbook_id = $1 ORDER BY tr.id`, [workbookId]);
  return rows;
}

/** Of these transforms' outputs, by id of the transform. */
export async function readFreshness(pool: pg.Pool | pg.PoolClient, ids: string[]): Promise<Map<string, Freshness>> {
  if (ids.length === 0) return new Map();
  const { rows } = await pool.query<TransformNode>(`${selectNodes} AND tr.id = ANY ($1)`, [ids]);
  return new Map(rows.map(({ id, staleSince, moved }) => [id, { staleSince, moved }]));
}

/** Names of tables by id, deleted ones too. */
export async function listTableNames(orm: Orm, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await orm.select({ id: tables.id, name: tables.name }).from(tables).where(inArray(tables.id, ids));
  return new Map(rows.map(({ id, name }) => [id, name]));
}
