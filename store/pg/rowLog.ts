import type pg from 'pg';
import type { LogRange } from '../../core/table/layers.ts';
import type { LayeredEntry, LogRow } from '../../core/table/log.ts';
import type { RowSelection } from '../../core/table/table.ts';
import { type logFiles, rowLog } from '../../schema/index.ts';
import type { Database } from './database.ts';
import type { Lookup } from './lookups.ts';
import { selectColumns } from './selectColumns.ts';

/** SQL: a `LogRow`, of `row_log l`; the second without its cells. */
const columns = selectColumns(rowLog, 'l', ['tableId']);
const bareColumns = `${selectColumns(rowLog, 'l', ['tableId', 'cells', 'before'])}, NULL AS cells, NULL AS before`;

/** The newest entry of each row over log layers, a later layer winning; of a part of the rows, if asked. */
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

/** Row by row, from the newest entry down: a row that was edited a thousand times costs no more than another. */
const newestOfEach = (ids: string, table: string, layers: string, list: string) => `
  SELECT e.* FROM ${ids} AS wanted(id) CROSS JOIN LATERAL (
    SELECT r.layer, newest.* FROM ${layers} AS r(layer, after, up_to) CROSS JOIN LATERAL (
      SELECT ${list} FROM row_log l WHERE l.table_id = ${table} AND ${within} AND l.row_id = wanted.id
      ORDER BY l.edit_version DESC LIMIT 1) AS newest
    ORDER BY r.layer DESC LIMIT 1) AS e`;

/**
 * Up to which version the entries of a table have been moved to files. Part of every statement that reads entries: only
 * then is it sure that what the statement did not find any more is in those files, and what it found is not. Null when the
 * table itself is not to be seen by who asks: then no entry is, and that must not pass for an empty log.
 */
const floorOf = (table: string) =>
  `(SELECT coalesce((SELECT max(up_to) FROM log_files WHERE table_id = t.id AND kind = 'log'), 0)::float8 FROM tables t WHERE t.id = ${table})`;

function requireFloor(floor: number | null | undefined): number {
  if (floor == null) throw new Error('the log of a table that is not to be seen was asked for');
  return floor;
}

/** Entries of the log, and the version up to which they are in files instead. */
export interface EntriesAbove<T> {
  floor: number;
  entries: T[];
}

async function queryAbove<T extends { rowId: number }>(
  pool: pg.Pool,
  query: { name?: string; text: string; values: unknown[] },
): Promise<EntriesAbove<T>> {
  const { rows } = await pool.query<T & { floor: number | null }>({
    ...query,
    text: `SELECT f.floor, e.* FROM (SELECT ${floorOf('$1')} AS floor) AS f LEFT JOIN (${query.text}) AS e ON true`,
  });
  return { floor: requireFloor(rows[0]?.floor), entries: rows.filter((row) => row.rowId !== null) };
}

/** Of some rows, as every edit asks for them. The second key is lists: layers, where they begin and end, and rows. */
const newestOfRows: Lookup<{ floor: number | null; entries: LayeredEntry[] }> = {
  name: 'newest_of_rows',
  text: `SELECT k.n, ${floorOf('k.a')} AS floor, coalesce((SELECT json_agg(e) FROM (${newestOfEach(
    "unnest(split_part(k.b, ' ', 4)::bigint[])",
    'k.a',
    "unnest(split_part(k.b, ' ', 1)::integer[], split_part(k.b, ' ', 2)::bigint[], split_part(k.b, ' ', 3)::bigint[])",
    columns,
  )}) AS e), '[]') AS entries
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(a, b, n)`,
};

export async function listNewestEntries(
  db: Database,
  tableId: string,
  ranges: LogRange[],
  selection: RowSelection | null,
): Promise<EntriesAbove<LayeredEntry>> {
  if (selection && 'ids' in selection) {
    const lists = [ranges.map(({ layer }) => layer), ranges.map(({ after }) => after), ranges.map(({ upTo }) => upTo), selection.ids];
    const found = await db.lookUpOwn(newestOfRows, tableId, lists.map((list) => `{${list}}`).join(' '));
    return { floor: requireFloor(found?.floor), entries: found?.entries ?? [] };
  }
  const { kind, text, values } = selectNewest(tableId, ranges, selection, columns);
  return queryAbove(db.keyed, { name: `newest_${kind}`, text, values });
}

/**
 * The same as the text of a JSON array of `[row id, op, layer, cells]`, null when there are none. The cells pass through
 * as they were kept: only the engine that reads them takes them apart. `uid` is that of the version before the first range.
 */
export async function readNewestEntries(
  pool: pg.Pool,
  tableId: string,
  ranges: LogRange[],
  selection: RowSelection | null,
): Promise<{ floor: number; uid: string | null; json: string | null }> {
  const { kind, text, values } = selectNewest(tableId, ranges, selection, 'l.row_id, l.op, l.cells');
  const { rows } = await pool.query<{ floor: number | null; uid: string | null; json: string | null }>({
    name: `newest_text_${kind}`,
    text: `SELECT ${floorOf('$1')} AS floor, (SELECT uid FROM table_versions WHERE table_id = $1 AND edit_version = ($3::bigint[])[1]) AS uid,
             json_agg(json_build_array(row_id, op, layer, cells))::text AS json FROM (${text}) AS newest`,
    values,
  });
  const [row] = rows;
  return { floor: requireFloor(row?.floor), uid: row?.uid ?? null, json: row?.json ?? null };
}

/** Every entry in a range of the log, of some rows, if asked. Without cells where they are not needed. */
export async function listEntries(
  pool: pg.Pool,
  tableId: string,
  range: { after: number; upTo: number; rowIds?: number[]; limit?: number; newestFirst?: boolean; withCells?: boolean },
): Promise<EntriesAbove<LogRow>> {
  const order = range.newestFirst ? 'DESC' : 'ASC';
  return queryAbove(pool, {
    text: `SELECT ${range.withCells === false ? bareColumns : columns} FROM row_log l
           WHERE table_id = $1 AND edit_version > $2 AND edit_version <= $3 AND ($4::bigint[] IS NULL OR row_id = ANY ($4))
           ORDER BY edit_version ${order}, row_id LIMIT $5`,
    values: [tableId, range.after, range.upTo, range.rowIds ?? null, range.limit ?? null],
  });
}

/** The oldest entries up to a version, whole versions only, as many as one file should hold. */
export async function listOldEntries(
  pool: pg.Pool,
  tableId: string,
  upTo: number,
  most: { entries: number; bytes: number },
): Promise<EntriesAbove<LogRow>> {
  return queryAbove(pool, {
    text: `SELECT ${columns} FROM (
             SELECT *, count(*) OVER upto AS n, sum(coalesce(pg_column_size(cells), 0) + coalesce(pg_column_size(before), 0)) OVER upto AS size,
                    min(edit_version) OVER () AS oldest
             FROM (SELECT * FROM row_log WHERE table_id = $1 AND edit_version <= $2 ORDER BY edit_version, row_id LIMIT $3::integer + 1001) AS eldest
             WINDOW upto AS (ORDER BY edit_version RANGE UNBOUNDED PRECEDING)
           ) AS l WHERE (n <= $3::integer AND size <= $4::bigint) OR edit_version = oldest`,
    values: [tableId, upTo, most.entries, most.bytes],
  });
}

/** Puts a file in the place of entries; false, and nothing changed, when they are not those any more. */
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
