import type pg from 'pg';
import type { LogRange } from '../../core/table/layers.ts';
import type { LayeredEntry, LogRow } from '../../core/table/log.ts';
import type { Cells, RowSelection } from '../../core/table/table.ts';
import { type logFiles, rowLog } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database } from './database.ts';
import { defineLookup } from './lookups.ts';
import { selectColumns } from './selectColumns.ts';

/** SQL: the columns of a `LogRow` from `row_log l`, with and without its cells. */
const columns = selectColumns(rowLog, 'l', ['tableId']);
const bareColumns = `${selectColumns(rowLog, 'l', ['tableId', 'cells', 'before'])}, NULL AS cells, NULL AS before`;

/** SQL for the newest entry of each selected row over several log layers; later layers win. */
function selectNewest(tableId: string, ranges: LogRange[], selection: RowSelection | null, list: string) {
  const common = [tableId, ranges.map((range) => range.layer), ranges.map((range) => range.after), ranges.map((range) => range.upTo)];
  const layers = 'unnest($2::integer[], $3::bigint[], $4::bigint[])';
  if (selection && 'ids' in selection)
    return { kind: 'ids', text: newestOfEach('unnest($5::bigint[])', '$1', layers, list), values: [...common, selection.ids] };
  return {
    kind: selection === null ? 'all' : 'range',
    text: `SELECT DISTINCT ON (l.row_id) r.layer, ${list} FROM ${layers} AS r(layer, after, up_to)
           JOIN row_log l ON l.table_id = $1 AND ${within} ${selection === null ? '' : 'AND l.row_id BETWEEN $5 AND $6'}
           ORDER BY l.row_id, r.layer DESC, l.edit_version DESC`,
    values: [...common, ...(selection === null ? [] : [selection.min, selection.max])],
  };
}

const within = 'l.edit_version > r.after AND l.edit_version <= r.up_to';

/** Finds the newest entry of each row by the index, so that rows with many entries cost no more than others. */
const newestOfEach = (ids: string, table: string, layers: string, list: string) => `
  SELECT e.* FROM ${ids} AS wanted(id) CROSS JOIN LATERAL (
    SELECT r.layer, newest.* FROM ${layers} AS r(layer, after, up_to) CROSS JOIN LATERAL (
      SELECT ${list} FROM row_log l WHERE l.table_id = ${table} AND ${within} AND l.row_id = wanted.id
      ORDER BY l.edit_version DESC LIMIT 1) AS newest
    ORDER BY r.layer DESC LIMIT 1) AS e`;

/**
 * SQL: the version up to which a table's entries were moved to files. It is part of every statement that reads entries, so
 * that both are seen at the same moment: an entry is then either in the result or in the files, never in both or neither.
 * Null if the caller may not see the table; its log would look empty then, which must not happen unnoticed.
 */
const selectMovedUpTo = (table: string) =>
  `(SELECT coalesce((SELECT max(up_to) FROM log_files WHERE table_id = t.id AND kind = 'log'), 0)::float8 FROM tables t WHERE t.id = ${table})`;

function requireMovedUpTo(movedUpTo: number | null | undefined): number {
  if (movedUpTo == null) throw new Error('the log of a table that is not to be seen was asked for');
  return movedUpTo;
}

/** Entries in the database, and the version up to which entries are in files instead. */
export interface EntriesInDatabase<T> {
  movedUpTo: number;
  entries: T[];
}

async function queryEntries<T extends { rowId: number }>(
  pool: pg.Pool,
  query: { name?: string; text: string; values: unknown[] },
): Promise<EntriesInDatabase<T>> {
  const { rows } = await pool.query<T & { movedUpTo: number | null }>({
    ...query,
    text: `SELECT f.moved_up_to AS "movedUpTo", e.* FROM (SELECT ${selectMovedUpTo('$1')} AS moved_up_to) AS f LEFT JOIN (${query.text}) AS e ON true`,
  });
  return { movedUpTo: requireMovedUpTo(rows[0]?.movedUpTo), entries: rows.filter((row) => row.rowId !== null) };
}

/** By table id and a text of four lists: layers, their first and last versions, and row ids. Every edit makes this look-up. */
const newestOfRows = defineLookup<{ movedUpTo: number | null; entries: LayeredEntry[] }>(
  'newest_of_rows',
  `SELECT ${selectMovedUpTo('k.a')} AS "movedUpTo", coalesce((SELECT json_agg(e) FROM (${newestOfEach(
    "unnest(split_part(k.b, ' ', 4)::bigint[])",
    'k.a',
    "unnest(split_part(k.b, ' ', 1)::integer[], split_part(k.b, ' ', 2)::bigint[], split_part(k.b, ' ', 3)::bigint[])",
    columns,
  )}) AS e), '[]') AS entries`,
);

export async function listNewestEntries(
  db: Database,
  tableId: string,
  ranges: LogRange[],
  selection: RowSelection | null,
): Promise<EntriesInDatabase<LayeredEntry>> {
  if (selection && 'ids' in selection) {
    const lists = [ranges.map(({ layer }) => layer), ranges.map(({ after }) => after), ranges.map(({ upTo }) => upTo), selection.ids];
    const found = await db.lookUpInAccounts(newestOfRows, tableId, lists.map((list) => `{${list}}`).join(' '));
    return { movedUpTo: requireMovedUpTo(found?.movedUpTo), entries: found?.entries ?? [] };
  }
  const { kind, text, values } = selectNewest(tableId, ranges, selection, columns);
  return queryEntries(db.keyed, { name: `newest_${kind}`, text, values });
}

/**
 * The same as the text of a JSON array of `[row id, op, layer, cells]`; null if there are no entries. The text is passed to
 * DuckDB without being parsed here. `uid` is the unique id of the version at which the first range starts.
 */
export async function readNewestEntries(
  pool: pg.Pool,
  tableId: string,
  ranges: LogRange[],
  selection: RowSelection | null,
): Promise<{ movedUpTo: number; uid: string | null; json: string | null }> {
  const { kind, text, values } = selectNewest(tableId, ranges, selection, 'l.row_id, l.op, l.cells');
  const { rows } = await pool.query<{ movedUpTo: number | null; uid: string | null; json: string | null }>({
    name: `newest_text_${kind}`,
    text: `SELECT ${selectMovedUpTo('$1')} AS "movedUpTo", (SELECT uid FROM table_versions WHERE table_id = $1 AND edit_version = ($3::bigint[])[1]) AS uid,
             json_agg(json_build_array(row_id, op, layer, cells))::text AS json FROM (${text}) AS newest`,
    values,
  });
  const [row] = rows;
  return { movedUpTo: requireMovedUpTo(row?.movedUpTo), uid: row?.uid ?? null, json: row?.json ?? null };
}

/** All entries in a range of versions; with `rowIds`, only of these rows. */
export async function listEntries(
  pool: pg.Pool,
  tableId: string,
  range: { after: number; upTo: number; rowIds?: number[]; limit?: number; newestFirst?: boolean; withCells?: boolean },
): Promise<EntriesInDatabase<LogRow>> {
  const order = range.newestFirst ? 'DESC' : 'ASC';
  return queryEntries(pool, {
    text: `SELECT ${range.withCells === false ? bareColumns : columns} FROM row_log l
           WHERE table_id = $1 AND edit_version > $2 AND edit_version <= $3 AND ($4::bigint[] IS NULL OR row_id = ANY ($4))
           ORDER BY edit_version ${order}, row_id LIMIT $5`,
    values: [tableId, range.after, range.upTo, range.rowIds ?? null, range.limit ?? null],
  });
}

/** The oldest entries up to a version, as many as one file should hold. Never splits a version. */
export async function listOldEntries(
  pool: pg.Pool,
  tableId: string,
  upTo: number,
  most: { entries: number; bytes: number },
): Promise<EntriesInDatabase<LogRow>> {
  return queryEntries(pool, {
    text: `SELECT ${columns} FROM (
             SELECT *, count(*) OVER upto AS n, sum(coalesce(pg_column_size(cells), 0) + coalesce(pg_column_size(before), 0)) OVER upto AS size,
                    min(edit_version) OVER () AS oldest
             FROM (SELECT * FROM row_log WHERE table_id = $1 AND edit_version <= $2 ORDER BY edit_version, row_id LIMIT $3::integer + 1001) AS eldest
             WINDOW upto AS (ORDER BY edit_version RANGE UNBOUNDED PRECEDING)
           ) AS l WHERE (n <= $3::integer AND size <= $4::bigint) OR edit_version = oldest`,
    values: [tableId, upTo, most.entries, most.bytes],
  });
}

/** Replaces entries by a file; changes nothing and returns false if the entries have changed meanwhile. */
export async function moveEntries(pool: pg.Pool, file: typeof logFiles.$inferInsert): Promise<boolean> {
  const { rows } = await pool.query<{ moved: boolean }>('SELECT svc_move_entries($1, $2, $3, $4, $5, $6, $7, $8) AS moved', [
    file.tableId,
    file.key,
    file.after,
    file.upTo,
    file.rows,
    file.minRow,
    file.maxRow,
    file.bytes,
  ]);
  return rows[0]?.moved === true;
}

/** Runs inside the transaction. The rows of a new table, as entries of its first version; ids count from 1. */
export async function insertFirstRows(tx: Tx, tableId: string, rows: Cells[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.client.query(
    `INSERT INTO row_log (table_id, edit_version, row_id, op, changed, cells)
     SELECT $1, 1, n, 'I', ARRAY(SELECT key::integer FROM json_object_keys(cells) AS key), cells
     FROM json_array_elements($2::json) WITH ORDINALITY AS given (cells, n)`,
    [tableId, JSON.stringify(rows)],
  );
  await tx.client.query('UPDATE tables SET tail_count = $2, tail_bytes = $3 WHERE id = $1', [
    tableId,
    rows.length,
    Buffer.byteLength(JSON.stringify(rows)),
  ]);
}
