import type pg from 'pg';

export interface LogRow {
  editVersion: number;
  rowId: number;
  op: 'I' | 'U' | 'D';
  changed: number[];
  cells: Record<string, string | null> | null;
  before: Record<string, string | null> | null;
}

const columns = `edit_version::float8 AS "editVersion", row_id::float8 AS "rowId", op, changed, cells, before`;
const bareColumns = `edit_version::float8 AS "editVersion", row_id::float8 AS "rowId", op, changed, NULL AS cells, NULL AS before`;

/** A part of the rows, by id: a range, or some. */
export type RowSelection = { min: number; max: number } | { ids: number[] };

/** A log layer, as far as it is read: entries with `after < edit_version <= upTo`. */
export interface LogRange {
  layer: number;
  after: number;
  upTo: number;
}

/** Rows of the log, with the layer they belong to. */
export interface LayeredEntry extends LogRow {
  layer: number;
}

/** The newest entry of each row over log layers, a later layer winning; of a part of the rows, if asked. */
function selectNewest(tableId: string, ranges: LogRange[], selection: RowSelection | null, list: string) {
  const kind = selection === null ? 'all' : 'ids' in selection ? 'ids' : 'range';
  const condition = { all: '', ids: 'AND l.row_id = ANY ($5)', range: 'AND l.row_id BETWEEN $5 AND $6' }[kind];
  const chosen = selection === null ? [] : 'ids' in selection ? [selection.ids] : [selection.min, selection.max];
  return {
    kind,
    text: `SELECT DISTINCT ON (l.row_id) r.layer, ${list} FROM unnest($2::integer[], $3::bigint[], $4::bigint[]) AS r(layer, after, up_to)
           JOIN row_log l ON l.table_id = $1 AND l.edit_version > r.after AND l.edit_version <= r.up_to ${condition}
           ORDER BY l.row_id, r.layer DESC, l.edit_version DESC`,
    values: [tableId, ranges.map((range) => range.layer), ranges.map((range) => range.after), ranges.map((range) => range.upTo), ...chosen],
  };
}

export async function listNewestEntries(
  pool: pg.Pool,
  tableId: string,
  ranges: LogRange[],
  selection: RowSelection | null,
): Promise<LayeredEntry[]> {
  if (ranges.length === 0) return [];
  const { kind, text, values } = selectNewest(tableId, ranges, selection, columns);
  return (await pool.query<LayeredEntry>({ name: `newest_${kind}`, text, values })).rows;
}

/**
 * The same as the text of a JSON array of `[row id, op, layer, cells]`, null when there are none. The cells pass through
 * as they were kept: only the engine that reads them takes them apart.
 */
export async function readNewestEntries(
  pool: pg.Pool,
  tableId: string,
  ranges: LogRange[],
  selection: RowSelection | null,
): Promise<string | null> {
  if (ranges.length === 0) return null;
  const { kind, text, values } = selectNewest(tableId, ranges, selection, 'l.row_id, l.op, l.cells');
  const { rows } = await pool.query<{ json: string | null }>({
    name: `newest_text_${kind}`,
    text: `SELECT json_agg(json_build_array(row_id, op, layer, cells))::text AS json FROM (${text}) AS newest`,
    values,
  });
  return rows[0]?.json ?? null;
}

/** Every entry in a range of the log, oldest first unless told; of some rows, if asked. Without cells where they are not needed. */
export async function listEntries(
  pool: pg.Pool | pg.PoolClient,
  tableId: string,
  range: { after: number; upTo: number; rowIds?: number[]; limit?: number; newestFirst?: boolean; withCells?: boolean },
): Promise<LogRow[]> {
  const order = range.newestFirst ? 'DESC' : 'ASC';
  const { rows } = await pool.query<LogRow>(
    `SELECT ${range.withCells === false ? bareColumns : columns} FROM row_log
     WHERE table_id = $1 AND edit_version > $2 AND edit_version <= $3 AND ($4::bigint[] IS NULL OR row_id = ANY ($4))
     ORDER BY edit_version ${order}, row_id LIMIT $5`,
    [tableId, range.after, range.upTo, range.rowIds ?? null, range.limit ?? null],
  );
  return rows;
}
