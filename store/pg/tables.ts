import { and, asc, count, eq, gt, inArray, isNull } from 'drizzle-orm';
import type pg from 'pg';
import type { Notes } from '../../core/journal/notes.ts';
import type { LogEntry } from '../../core/table/log.ts';
import type { ColumnRecord, Layer, PlannedLayer, TableAt, TableRecord } from '../../core/table/table.ts';
import { manifests, tableColumns, tables, tableVersions } from '../../schema/index.ts';
import type { Tx, WholeChange } from './commit.ts';
import type { Database, Orm } from './database.ts';
import type { Lookup } from './lookups.ts';
import { buildJson, selectColumns } from './selectColumns.ts';

export interface TableFilter {
  workbookId: string;
  state?: 'active' | 'archived';
  after?: string | null;
  limit?: number;
}

const live = isNull(tables.deletedAt);

export async function listTables(orm: Orm, filter: TableFilter): Promise<TableRecord[]> {
  return orm
    .select()
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

/** How many active tables some workbooks have; those without any are not in it. */
export async function countTables(orm: Orm, workbookIds: string[]): Promise<Map<string, number>> {
  if (workbookIds.length === 0) return new Map();
  const rows = await orm
    .select({ workbookId: tables.workbookId, tables: count() })
    .from(tables)
    .where(and(inArray(tables.workbookId, workbookIds), eq(tables.state, 'active'), live))
    .groupBy(tables.workbookId);
  return new Map(rows.map((row) => [row.workbookId, row.tables]));
}

/** The columns of a table as they are at a version, in order. */
export async function listColumnsAt(
  orm: Orm,
  tableIds: string[],
  versionOf: (tableId: string) => number,
): Promise<Map<string, ColumnRecord[]>> {
  const byTable = new Map<string, ColumnRecord[]>(tableIds.map((id) => [id, []]));
  if (tableIds.length === 0) return byTable;
  const { tableId, fromVersion, toVersion } = tableColumns;
  const rows = await orm
    .select({ column: columnFields, tableId, fromVersion, toVersion })
    .from(tableColumns)
    .where(inArray(tableId, tableIds))
    .orderBy(asc(tableColumns.position), asc(tableColumns.columnId));
  for (const row of rows) {
    const version = versionOf(row.tableId);
    if (row.fromVersion <= version && (row.toVersion === null || row.toVersion > version)) byTable.get(row.tableId)?.push(row.column);
  }
  return byTable;
}

type StoredTable = Omit<typeof tables.$inferSelect, 'nameKey'>;
type Extending<A extends B, B> = A;
/** What core knows of a table is what is stored of it, no more and no less: otherwise this does not compile. */
export type TableRow = Extending<StoredTable, TableRecord> & Extending<TableRecord, StoredTable>;

type CurrentRow = TableRow & { layers: Layer[]; columns: ColumnRecord[] };

/** SQL: a `TableRow`, of `tables t`. */
export const tableFields = selectColumns(tables, 't', ['nameKey']);

const columnFields = {
  id: tableColumns.columnId,
  name: tableColumns.name,
  type: tableColumns.type,
  defaultText: tableColumns.defaultText,
  description: tableColumns.description,
} satisfies Record<keyof ColumnRecord, unknown>;

/** SQL: the `ColumnRecord`s, of `table_columns c`, in order. */
export const aggregateColumns = `coalesce(json_agg(${buildJson(columnFields, 'c')} ORDER BY c.position, c.column_id), '[]')`;

const columnsWhere = (condition: string) =>
  `(SELECT ${aggregateColumns} FROM table_columns c WHERE c.table_id = t.id AND ${condition}) AS columns`;

const selectCurrent = `
  SELECT ${tableFields}, m.layers, ${columnsWhere('c.to_version IS NULL')}
  FROM tables t JOIN manifests m ON m.id = t.manifest_id`;

function asTableAt({ layers, columns, ...table }: CurrentRow): TableAt {
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

/** By workbook and name, or id: an archived table has its name for itself only while no other has it. */
const currentTable = (preferred: 'active' | 'archived'): Lookup<CurrentRow> => ({
  name: `current_table_${preferred}`,
  // The name is folded apart (OFFSET keeps it there): what is asked of the table itself must be nothing but equality.
  text: `SELECT k.n, found.* FROM (SELECT a, b, lower(b) AS key, n FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(a, b, n) OFFSET 0) AS k
         CROSS JOIN LATERAL (${selectCurrent}
           WHERE t.workbook_id = k.a AND (t.id = k.b OR t.name_key = k.key) AND t.deleted_at IS NULL
           ORDER BY t.id <> k.b, t.state <> '${preferred}', t.updated_at DESC LIMIT 1) AS found`,
});
const currentTables = { active: currentTable('active'), archived: currentTable('archived') };

/** A table as it is now, with columns and layers, in one look-up: this runs before every edit and page. */
export async function findCurrentTable(
  db: Database,
  workbookId: string,
  nameOrId: string,
  preferred: 'active' | 'archived' = 'active',
): Promise<TableAt | null> {
  const row = await db.lookUpOwn(currentTables[preferred], workbookId, nameOrId);
  return row && asTableAt(row);
}

export async function findCurrentTableById(pool: pg.Pool | pg.PoolClient, id: string): Promise<TableAt | null> {
  const { rows } = await pool.query<CurrentRow>(`${selectCurrent} WHERE t.id = $1 AND t.deleted_at IS NULL`, [id]);
  return rows[0] ? asTableAt(rows[0]) : null;
}

/** All active tables of a workbook as they are at one moment. */
export async function listCurrentTables(pool: pg.Pool | pg.PoolClient, workbookId: string, names: string[] | null): Promise<TableAt[]> {
  const { rows } = await pool.query<CurrentRow>({
    name: 'current_tables',
    text: `${selectCurrent} WHERE t.workbook_id = $1 AND t.state = 'active' AND t.deleted_at IS NULL AND ($2::text[] IS NULL OR t.name = ANY ($2)) ORDER BY t.id`,
    values: [workbookId, names],
  });
  return rows.map(asTableAt);
}

/** Those active tables of a workbook that have one of the names, in any case, as they are at one moment. */
export async function listNamedTables(pool: pg.Pool, workbookId: string, names: string[]): Promise<TableAt[]> {
  const { rows } = await pool.query<CurrentRow>({
    name: 'named_tables',
    // Folded apart, as above.
    text: `SELECT found.* FROM (SELECT DISTINCT lower(name) AS key FROM unnest($2::text[]) AS name OFFSET 0) AS k
           CROSS JOIN LATERAL (${selectCurrent}
             WHERE t.workbook_id = $1 AND t.name_key = k.key AND t.state = 'active' AND t.deleted_at IS NULL) AS found
           ORDER BY found.id`,
    values: [workbookId, names],
  });
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

/** Tables as they are at one moment, by id; deleted ones too. */
export async function listTablesById(pool: pg.Pool | pg.PoolClient, ids: string[]): Promise<TableAt[]> {
  const { rows } = await pool.query<CurrentRow>(`${selectCurrent} WHERE t.id = ANY ($1) ORDER BY t.id`, [ids]);
  return rows.map(asTableAt);
}

type VersionRow = TableRow & { at: Omit<TableAt, 'table' | 'columns'>; columns: ColumnRecord[] };

/** Tables at older versions, by id; deleted ones too. A version that is not there (any more) is left out. */
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

/** A table at an older version; null when that version is not there (any more). */
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
  versionUid: string;
  manifestId: string;
  columns: { name: string; type: string }[];
  layers: Layer[];
  rowCount: number;
  nextRowId: number;
}

/** A table at its version 1. Row ids count from 1, column ids too. */
export async function insertTable(tx: Tx, made: NewTable): Promise<void> {
  const { columns, layers, ...table } = made;
  await tx.orm
    .insert(tables)
    .values({ ...table, editVersion: 1, schemaVersion: 1, nextColumnId: columns.length + 1, createdAt: tx.at, updatedAt: tx.at });
  await tx.orm.insert(manifests).values({ id: made.manifestId, tableId: made.id, layers, createdAt: tx.at });
  await tx.orm.insert(tableVersions).values({
    tableId: made.id,
    editVersion: 1,
    uid: made.versionUid,
    manifestId: made.manifestId,
    schemaVersion: 1,
    rowCount: made.rowCount,
    createdAt: tx.at,
  });
  // As two lists: a statement has room for 65,535 parameters, and a sheet for 16,384 columns.
  await tx.client.query(
    `INSERT INTO table_columns (table_id, account_id, column_id, from_version, name, type, position)
     SELECT $1, $2, n, 1, name, type, n FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS given (name, type, n)`,
    [made.id, made.accountId, columns.map(({ name }) => name), columns.map(({ type }) => type)],
  );
}

/** Null when the table is gone or, where a version is named, has moved on from it. */
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
    .returning();
  return row ?? null;
}

/** Ids that were given out by others than the table's own counters are never given again. */
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

export interface TableEdit {
  tableId: string;
  /** The version that was read; the edit goes through only on top of it. */
  readVersion: number;
  versionUid: string;
  inserted: number;
  deleted: number;
  entries: LogEntry[];
  manifest: { id: string; layers: PlannedLayer[] } | null;
  schemaChanged: boolean;
}

export interface EditedTable {
  editVersion: number;
  firstRowId: number;
  rowCount: number;
  tailCount: number;
  /** Names of derived tables that are behind their inputs since. */
  stale: string[];
}

/** The table has moved on since it was read: nothing was changed. */
export class VersionMoved extends Error {}

const movedOn = 'SV001';

/** The next version of a table, on top of the version that was read and no other: its number is one more. */
export function editTable(edit: TableEdit, scope: string, notes: Notes): WholeChange<EditedTable> {
  return {
    scope,
    notes,
    statement: (at) => ({
      name: 'edit_table',
      text: 'SELECT * FROM svc_edit_table($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
      values: [
        edit.tableId,
        edit.readVersion,
        edit.versionUid,
        at,
        edit.inserted,
        edit.deleted,
        JSON.stringify(edit.entries.map((entry) => [entry.rowId, entry.op, entry.changed, entry.cells, entry.before])),
        edit.manifest?.id ?? null,
        edit.manifest && JSON.stringify(edit.manifest.layers),
        edit.schemaChanged,
      ],
    }),
    read: (row) => ({
      editVersion: Number(row.edit_version),
      firstRowId: Number(row.first_row_id),
      rowCount: Number(row.row_count),
      tailCount: Number(row.tail_count),
      // No table is derived from another yet. The statement that marks derived ones will say here which.
      stale: [],
    }),
    explain: (error) => ((error as { code?: string }).code === movedOn ? new VersionMoved() : error),
  };
}

/** One more layer for the version that an edit has just made in this transaction. */
export async function appendLayer(tx: Tx, tableId: string, editVersion: number, manifestId: string, layer: Layer): Promise<void> {
  await tx.client.query('SELECT svc_append_layer($1, $2, $3, $4, $5)', [tableId, editVersion, manifestId, JSON.stringify(layer), tx.at]);
}

/** Takes a range of row ids for a large insert, ahead of writing its file. Ids may be left out, never given twice. */
export async function reserveRows(pool: pg.Pool, tableId: string, count: number): Promise<number> {
  const { rows } = await pool.query<{ first: string }>(
    'UPDATE tables SET next_row_id = next_row_id + $2 WHERE id = $1 RETURNING next_row_id - $2 AS first',
    [tableId, count],
  );
  return Number(rows[0]?.first ?? 0);
}
