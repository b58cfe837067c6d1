import { and, asc, eq, getTableColumns, gt, inArray, isNull, notInArray, sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Flows } from '../../core/lineage/flows.ts';
import { anyChange, type Change } from '../../core/lineage/staleness.ts';
import type { Freshness } from '../../core/transforms/transform.ts';
import type { ViewInput } from '../../core/transforms/viewDue.ts';
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

/** What a table was made from, and what has changed of that since. */
export interface Edge {
  tableId: string;
  inputId: string;
  flows: Flows | null;
  moved: Change | null;
}

/** What these tables were made from. No edit marks more of it until the transaction ends. */
export async function holdEdges(tx: Tx, tableIds: string[]): Promise<Edge[]> {
  const { rows } = await tx.client.query<Omit<Edge, 'moved'> & { stale: boolean; columns: number[] | null }>(
    `SELECT table_id AS "tableId", input_id AS "inputId", flows, stale_since IS NOT NULL AS stale, stale_columns AS columns
     FROM table_inputs WHERE table_id = ANY ($1) AND kind = 'transform' ORDER BY table_id, input_id FOR NO KEY UPDATE`,
    [tableIds],
  );
  return rows.map(({ stale, columns, ...edge }) => ({
    ...edge,
    moved: stale ? (columns === null ? anyChange : { rows: false, columns: new Set(columns) }) : null,
  }));
}

/** Of these tables those whose transform was replaced and not run since. It stays so until the transaction ends. */
export async function holdRedefined(tx: Tx, tableIds: string[]): Promise<Set<string>> {
  const { rows } = await tx.client.query<{ id: string; redefined: boolean }>(
    `SELECT output_id AS id, run_revision IS DISTINCT FROM revision AS redefined FROM transforms
     WHERE output_id = ANY ($1) AND deleted_at IS NULL ORDER BY id FOR SHARE`,
    [tableIds],
  );
  return new Set(rows.filter(({ redefined }) => redefined).map(({ id }) => id));
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

/** Replaces what a table was made from. Rows are kept: an edit that waits for one of them finds it changed, not gone. */
export async function replaceInputs(tx: Tx, tableId: string, inputs: InputRow[]): Promise<void> {
  const kept = inputs.map(({ inputId }) => inputId);
  const others = kept.length > 0 ? notInArray(tableInputs.inputId, kept) : undefined;
  const removed = tx.orm.delete(tableInputs).where(and(eq(tableInputs.tableId, tableId), eq(tableInputs.kind, 'transform'), others));
  await Promise.all([removed, ...(inputs.length > 0 ? [putInputs(tx, tableId, inputs)] : [])]);
}

async function putInputs(tx: Tx, tableId: string, inputs: InputRow[]): Promise<void> {
  await tx.orm
    .insert(tableInputs)
    .values(inputs.map((input) => ({ ...input, tableId, kind: 'transform' as const })))
    .onConflictDoUpdate({
      target: [tableInputs.tableId, tableInputs.inputId],
      set: {
        kind: sql`excluded.kind`,
        inputVersion: sql`excluded.input_version`,
        flows: sql`excluded.flows`,
        staleSince: sql`excluded.stale_since`,
        staleColumns: sql`excluded.stale_columns`,
      },
    });
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
  /** Whether the output is neither archived nor deleted. */
  isActive: boolean;
  inputIds: string[];
  staleSince: Date | null;
  moved: string[];
}

const selectNodes = `
  SELECT tr.id, tr.output_id AS "outputId",
    EXISTS (SELECT 1 FROM tables o WHERE o.id = tr.output_id AND o.state = 'active' AND o.deleted_at IS NULL) AS "isActive", ARRAY(SELECT DISTINCT value FROM jsonb_each_text(tr.args)) AS "inputIds",
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

/** Names of the reports that something was changed under since they were made. */
export async function listStaleReports(orm: Orm, workbookId: string): Promise<string[]> {
  const isStale = sql`EXISTS (SELECT 1 FROM table_inputs i WHERE i.table_id = ${tables.id} AND i.stale_since IS NOT NULL)`;
  const rows = await orm
    .select({ name: tables.name })
    .from(tables)
    .where(and(eq(tables.workbookId, workbookId), eq(tables.type, 'report'), isNull(tables.deletedAt), isStale))
    .orderBy(asc(tables.name));
  return rows.map(({ name }) => name);
}

/** Names of tables by id, deleted ones too. */
export async function listTableNames(orm: Orm, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await orm.select({ id: tables.id, name: tables.name }).from(tables).where(inArray(tables.id, ids));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** What decides whether a view has to be made again. */
export interface ViewState {
  transformId: string;
  versionUid: string;
  /** Its transform was replaced and not run since. */
  isRevised: boolean;
  /** The tables that it will read. */
  argIds: string[];
  /** Those that it has read. */
  inputs: (ViewInput & { id: string })[];
}

/** Null: the table is no view that can be made. */
export async function readViewState(pool: pg.Pool, tableId: string): Promise<ViewState | null> {
  const { rows } = await pool.query<ViewState>(
    `SELECT tr.id AS "transformId", v.version_uid AS "versionUid", tr.run_revision IS DISTINCT FROM tr.revision AS "isRevised",
       ARRAY(SELECT DISTINCT value FROM jsonb_each_text(tr.args)) AS "argIds",
       coalesce((SELECT json_agg(json_build_object('id', t.id, 'isMarked', i.stale_since IS NOT NULL,
           'hasMoved', t.edit_version <> i.input_version,
           'isStale', EXISTS (SELECT 1 FROM table_inputs o WHERE o.table_id = t.id AND o.kind = 'transform' AND o.stale_since IS NOT NULL)))
         FROM table_inputs i JOIN tables t ON t.id = i.input_id WHERE i.table_id = v.id AND i.kind = 'transform'), '[]') AS inputs
     FROM tables v JOIN transforms tr ON tr.output_id = v.id AND tr.deleted_at IS NULL
     WHERE v.id = $1 AND v.layer = 'view' AND v.state = 'active' AND v.deleted_at IS NULL`,
    [tableId],
  );
  return rows[0] ?? null;
}

/** Ids of the views of a workbook that may have to be made again. */
export async function listStaleViews(pool: pg.Pool, workbookId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT t.id FROM tables t WHERE t.workbook_id = $1 AND t.layer = 'view' AND t.state = 'active' AND t.deleted_at IS NULL
       AND EXISTS (SELECT 1 FROM table_inputs i WHERE i.table_id = t.id AND i.stale_since IS NOT NULL) ORDER BY t.id`,
    [workbookId],
  );
  return rows.map(({ id }) => id);
}

/** Brings back the transforms of tables that are no longer deleted. One whose name another has taken stays deleted. */
export async function reviveTransforms(tx: Tx, outputIds: string[]): Promise<void> {
  await tx.client.query(
    `UPDATE transforms t SET deleted_at = NULL WHERE t.output_id = ANY ($1) AND t.deleted_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM transforms o WHERE o.workbook_id = t.workbook_id AND o.name_key = t.name_key AND o.deleted_at IS NULL)`,
    [outputIds],
  );
}

/** Marks tables as stale that do not hold what they would be made from. */
export async function markInconsistent(tx: Tx, tableIds: string[]): Promise<void> {
  await tx.client.query(
    `UPDATE table_inputs SET stale_since = coalesce(stale_since, $2), stale_columns = NULL WHERE table_id = ANY ($1) AND kind = 'transform'`,
    [tableIds, tx.at],
  );
}

/** Whether an active derived table of the workbook does not agree with its inputs. Views are made when they are read. */
export async function hasStaleTables(pool: pg.Pool | pg.PoolClient, workbookId: string): Promise<boolean> {
  const { rows } = await pool.query(
    `SELECT 1 FROM transforms tr JOIN tables t ON t.id = tr.output_id JOIN table_inputs i ON i.table_id = t.id
     WHERE tr.workbook_id = $1 AND tr.deleted_at IS NULL AND t.layer = 'derived' AND t.state = 'active' AND t.deleted_at IS NULL
       AND i.kind = 'transform' AND i.stale_since IS NOT NULL LIMIT 1`,
    [workbookId],
  );
  return rows.length > 0;
}
