import { and, asc, count, eq, getTableColumns, gt, inArray, isNull, sql } from 'drizzle-orm';
import type pg from 'pg';
import { sumLayers } from '../../core/storage/use.ts';
import type { ColumnRecord, Layer, TableAt, TableRecord } from '../../core/table/table.ts';
import { manifests, tableColumns, tables, tableVersions, type workbooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database, Orm } from './database.ts';
import { insertRows } from './insertRows.ts';
import { defineLookup } from './lookups.ts';
import { buildJson, selectColumns } from './selectColumns.ts';

export interface TableFilter {
  workbookId: string;
  state?: 'active' | 'archived';
  after?: string | null;
  limit?: number;
}

const live = isNull(tables.deletedAt);

/** SQL: the policy version of the workbook of a table. */
const policyVersionOf = (table: string) =>
  `(SELECT policies_of.policy_version::float8 FROM workbooks policies_of WHERE policies_of.id = ${table}.workbook_id)`;

/** The fields of a `TableRecord`. */
export const tableRecord = { ...getTableColumns(tables), policyVersion: sql<number>`${sql.raw(policyVersionOf('tables'))}` };

export async function listTables(orm: Orm, filter: TableFilter): Promise<TableRecord[]> {
  return orm
    .select(tableRecord)
    .from(tables)
    .where(
      and(
        eq(tables.workbookId, filter.workbookId),
        live,
        filter.state === undefined ? undefined : eq(tables.state, filter.state),
        filter.after == null ? undefined : gt(tables.id, filter.after),
      ),
    )
    .orderBy(asc(tables.id))
    .limit(filter.limit ?? 10_000);
}

/** How many active tables each workbook has; workbooks without any are left out. */
export async function countTables(orm: Orm, workbookIds: string[]): Promise<Map<string, number>> {
  if (workbookIds.length === 0) return new Map();
  const rows = await orm
    .select({ workbookId: tables.workbookId, tables: count() })
    .from(tables)
    .where(and(inArray(tables.workbookId, workbookIds), eq(tables.state, 'active'), live))
    .groupBy(tables.workbookId);
  return new Map(rows.map((row) => [row.workbookId, row.tables]));
}

type StoredTable = Omit<typeof tables.$inferSelect, 'nameKey' | 'fileBytes' | 'tailBytes'> &
  Pick<typeof workbooks.$inferSelect, 'policyVersion'>;
type Extending<A extends B, B> = A;
/** Compiles only if core's `TableRecord` has exactly the stored fields. */
export type TableRow = Extending<StoredTable, TableRecord> & Extending<TableRecord, StoredTable>;

export type CurrentRow = TableRow & { layers: Layer[]; columns: ColumnRecord[] };

/** SQL: the columns of a `TableRow` from `tables t`. */
export const tableFields = `${selectColumns(tables, 't', ['nameKey', 'fileBytes', 'tailBytes'])}, ${policyVersionOf('t')} AS "policyVersion"`;

const columnFields = {
  id: tableColumns.columnId,
  name: tableColumns.name,
  type: tableColumns.type,
  defaultText: tableColumns.defaultText,
  description: tableColumns.description,
} satisfies Record<keyof ColumnRecord, unknown>;

/** SQL: a JSON array of `ColumnRecord`s from `table_columns c`, in order. */
export const aggregateColumns = `coalesce(json_agg(${buildJson(columnFields, 'c')} ORDER BY c.position, c.column_id), '[]')`;

const columnsWhere = (condition: string) =>
  `(SELECT ${aggregateColumns} FROM table_columns c WHERE c.table_id = t.id AND ${condition}) AS columns`;

const selectCurrent = `
  SELECT ${tableFields}, m.layers, ${columnsWhere('c.to_version IS NULL')}
  FROM tables t JOIN manifests m ON m.id = t.manifest_id`;

export function asTableAt({ layers, columns, ...table }: CurrentRow): TableAt {
  return {
    table,
    editVersion: table.editVersion,
    versionUid: table.versionUid,
    manifestId: table.manifestId,
    schemaVersion: table.schemaVersion,
    rowCount: table.rowCount,
    columns,
    layers,
  };
}

/** By workbook id, and by table id or name. Archived tables may share a name with others; `preferred` decides between them. */
const currentTable = (preferred: 'active' | 'archived') =>
  defineLookup<CurrentRow>(
    `current_table_${preferred}`,
    `${selectCurrent} WHERE t.workbook_id = k.a AND (t.id = k.b OR t.name_key = k.key) AND t.deleted_at IS NULL
     ORDER BY t.id <> k.b, t.state <> '${preferred}', t.updated_at DESC LIMIT 1`,
    ['lower(b) AS key'],
  );
const currentTables = { active: currentTable('active'), archived: currentTable('archived') };

/** A table's current version with columns and layers, in one look-up, because every edit and page needs it. */
export async function findCurrentTable(
  db: Database,
  workbookId: string,
  nameOrId: string,
  preferred: 'active' | 'archived' = 'active',
): Promise<TableAt | null> {
  const row = await db.lookUpInAccounts(currentTables[preferred], workbookId, nameOrId);
  return row && asTableAt(row);
}

export async function findCurrentTableById(pool: pg.Pool | pg.PoolClient, id: string): Promise<TableAt | null> {
  const { rows } = await pool.query<CurrentRow>(`${selectCurrent} WHERE t.id = $1 AND t.deleted_at IS NULL`, [id]);
  return rows[0] ? asTableAt(rows[0]) : null;
}

/** Active tables of a workbook, all read at the same moment; all of them or those with the given names. */
export async function listCurrentTables(pool: pg.Pool | pg.PoolClient, workbookId: string, names: string[] | null): Promise<TableAt[]> {
  const { rows } = await pool.query<CurrentRow>({
    name: 'current_tables',
    text: `${selectCurrent} WHERE t.workbook_id = $1 AND t.state = 'active' AND t.deleted_at IS NULL AND ($2::text[] IS NULL OR t.name = ANY ($2)) ORDER BY t.id`,
    values: [workbookId, names],
  });
  return rows.map(asTableAt);
}

/** The active tables of the workbook `k.a` with one of the names of the JSON array `k.names`, ignoring case. */
export const tablesNamed = `
   SELECT named.* FROM (SELECT DISTINCT lower(name) AS key FROM json_array_elements_text(k.names::json) AS name OFFSET 0) AS word
   CROSS JOIN LATERAL (${selectCurrent}
     WHERE t.workbook_id = k.a AND t.name_key = word.key AND t.state = 'active' AND t.deleted_at IS NULL LIMIT 1) AS named
   ORDER BY named.id`;

const namedTables = defineLookup<CurrentRow>('named_tables', tablesNamed, ['b AS names']);

/** Active tables with one of the names, ignoring case, all read at the same moment. */
export async function listNamedTables(db: Database, workbookId: string, names: string[]): Promise<TableAt[]> {
  return (await db.listInAccounts(namedTables, workbookId, JSON.stringify(onlyStorable(names)))).map(asTableAt);
}

/** Names that PostgreSQL can hold, so that tables can have them. */
export const onlyStorable = (names: string[]) => names.filter((name) => !/[\0\p{Surrogate}]/u.test(name));

/** Active tables with one of the ids or names, ignoring case, all read at the same moment. */
export async function listReferredTables(pool: pg.Pool, workbookId: string, refs: { id: string; name: string }[]): Promise<TableAt[]> {
  const { rows } = await pool.query<CurrentRow>(
    `${selectCurrent} WHERE t.workbook_id = $1 AND t.state = 'active' AND t.deleted_at IS NULL
       AND (t.id = ANY ($2) OR t.name_key IN (SELECT lower(name) FROM unnest($3::text[]) AS name)) ORDER BY t.id`,
    [workbookId, refs.map(({ id }) => id), refs.map(({ name }) => name)],
  );
  return rows.map(asTableAt);
}

/** The names that a query may use. */
export async function listActiveNames(pool: pg.Pool, workbookId: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>({
    name: 'active_names',
    text: `SELECT name FROM tables WHERE workbook_id = $1 AND state = 'active' AND deleted_at IS NULL ORDER BY id`,
    values: [workbookId],
  });
  return rows.map((row) => row.name);
}

/** Tables by id, including deleted ones, all read at the same moment. */
export async function listTablesById(pool: pg.Pool | pg.PoolClient, ids: string[]): Promise<TableAt[]> {
  const { rows } = await pool.query<CurrentRow>(`${selectCurrent} WHERE t.id = ANY ($1) ORDER BY t.id`, [ids]);
  return rows.map(asTableAt);
}

type VersionRow = TableRow & { at: Omit<TableAt, 'table' | 'columns'>; columns: ColumnRecord[] };

/** Tables at older versions, in order of ids, including deleted tables. Versions that do not exist (any more) are left out. */
export async function listTablesAt(pool: pg.Pool | pg.PoolClient, wanted: { tableId: string; editVersion: number }[]): Promise<TableAt[]> {
  const { rows } = await pool.query<VersionRow>(
    `SELECT ${tableFields}, ${columnsWhere('c.from_version <= v.edit_version AND (c.to_version IS NULL OR c.to_version > v.edit_version)')},
       json_build_object('editVersion', v.edit_version, 'versionUid', v.uid, 'manifestId', v.manifest_id, 'schemaVersion', v.schema_version,
                         'rowCount', v.row_count, 'layers', m.layers) AS at
     FROM unnest($1::text[], $2::bigint[]) AS k(table_id, edit_version) JOIN table_versions v USING (table_id, edit_version)
     JOIN tables t ON t.id = v.table_id JOIN manifests m ON m.id = v.manifest_id ORDER BY t.id`,
    [wanted.map(({ tableId }) => tableId), wanted.map(({ editVersion }) => editVersion)],
  );
  return rows.map(({ at, columns, ...table }) => ({ ...at, table, columns }));
}

/** A table at an older version. Null: the version does not exist (any more). */
export async function findTableAt(pool: pg.Pool | pg.PoolClient, table: TableRecord, editVersion: number): Promise<TableAt | null> {
  const [at] = await listTablesAt(pool, [{ tableId: table.id, editVersion }]);
  return at ? { ...at, table } : null;
}

export interface NewTable {
  id: string;
  workbookId: string;
  accountId: string;
  name: string;
  layer: 'base' | 'derived' | 'view';
  /** A table by default. */
  type?: 'table' | 'view' | 'report';
  versionUid: string;
  manifestId: string;
  columns: { name: string; type: string }[];
  layers: Layer[];
  rowCount: number;
  nextRowId: number;
}

/** Creates a table at version 1. Row and column ids count from 1. */
export async function insertTable(tx: Tx, made: NewTable): Promise<void> {
  await insertTables(tx, [made]);
}

export async function insertTables(tx: Tx, made: NewTable[]): Promise<void> {
  if (made.length === 0) return;
  const rows = made.map(({ columns, layers, ...table }) => ({
    ...table,
    editVersion: 1,
    schemaVersion: 1,
    nextColumnId: columns.length + 1,
    fileBytes: sumLayers(layers),
    createdAt: tx.at,
    updatedAt: tx.at,
  }));
  await insertRows(tx, tables, rows);
  await insertRows(
    tx,
    manifests,
    made.map(({ manifestId, id, layers }) => ({ id: manifestId, tableId: id, layers, createdAt: tx.at })),
  );
  await insertRows(
    tx,
    tableVersions,
    made.map(({ id, versionUid, manifestId, rowCount }) => ({
      tableId: id,
      editVersion: 1,
      uid: versionUid,
      manifestId,
      schemaVersion: 1,
      rowCount,
      createdAt: tx.at,
    })),
  );
  // As arrays, because a sheet can have 16,384 columns.
  const columns = made.flatMap(({ id, accountId, columns }) => columns.map((column, i) => ({ ...column, id, accountId, position: i + 1 })));
  await tx.client.query(
    `INSERT INTO table_columns (table_id, account_id, column_id, from_version, name, type, position)
     SELECT id, account_id, n, 1, name, type, n
     FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[]) AS given (id, account_id, n, name, type)`,
    [
      columns.map(({ id }) => id),
      columns.map(({ accountId }) => accountId),
      columns.map(({ position }) => position),
      columns.map(({ name }) => name),
      columns.map(({ type }) => type),
    ],
  );
}

/** Null: the table is deleted, or is no longer at `atVersion`. */
export async function updateTable(
  tx: Tx,
  id: string,
  fields: Partial<typeof tables.$inferInsert>,
  atVersion?: number,
): Promise<TableRecord | null> {
  const [row] = await tx.orm
    .update(tables)
    .set({ updatedAt: tx.at, ...fields })
    .where(and(eq(tables.id, id), live, atVersion === undefined ? undefined : eq(tables.editVersion, atVersion)))
    .returning(tableRecord);
  return row ?? null;
}

/** Raises the counters above ids that were chosen elsewhere, so that these are not given out again. */
/**
 * Locks tables before anything else that belongs to them, in the order of their ids, as every change of several does: so that no
 * two wait for each other. Nobody else changes those in `changed` or those in `read` until the transaction ends; others may read
 * the latter for a change, too. Returns where they stand.
 */
export async function holdTables(
  tx: Tx,
  { changed, read }: { changed: string[]; read: string[] },
): Promise<Map<string, { editVersion: number; isActive: boolean }>> {
  const strengths = new Map([...read.map((id) => [id, 'SHARE'] as const), ...changed.map((id) => [id, 'NO KEY UPDATE'] as const)]);
  const sent = [...strengths.keys()]
    .sort()
    .map((id) =>
      tx.client.query<{ id: string; version: string; active: boolean }>(
        `SELECT id, edit_version AS version, state = 'active' AND deleted_at IS NULL AS active FROM tables WHERE id = $1 FOR ${strengths.get(id)}`,
        [id],
      ),
    );
  const rows = (await Promise.all(sent)).flatMap((found) => found.rows);
  return new Map(rows.map(({ id, version, active }) => [id, { editVersion: Number(version), isActive: active }]));
}

export async function raiseCounters(tx: Tx, id: string, used: { rowId: number; columnId: number }): Promise<void> {
  await tx.client.query(
    'UPDATE tables SET next_row_id = greatest(next_row_id, $2), next_column_id = greatest(next_column_id, $3) WHERE id = $1',
    [id, used.rowId + 1, used.columnId + 1],
  );
}

export async function describeColumn(tx: Tx, tableId: string, columnId: number, description: string | null): Promise<void> {
  await tx.orm
    .update(tableColumns)
    .set({ description })
    .where(and(eq(tableColumns.tableId, tableId), eq(tableColumns.columnId, columnId), isNull(tableColumns.toVersion)));
}

/** Reserves row ids for a large insert before its file is written; returns the first. Unused ids are lost, never reused. */
export async function reserveRows(pool: pg.Pool, tableId: string, count: number): Promise<number> {
  const { rows } = await pool.query<{ first: string }>(
    'UPDATE tables SET next_row_id = next_row_id + $2 WHERE id = $1 RETURNING next_row_id - $2 AS first',
    [tableId, count],
  );
  return Number(rows[0]?.first ?? 0);
}
