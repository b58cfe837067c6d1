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

/** The newest entry of each row in a range of the log. */
export async function listNewestEntries(pool: pg.Pool | pg.PoolClient, tableId: string, after: number, upTo: number): Promise<LogRow[]> {
  const { rows } = await pool.query<LogRow>({
    name: 'newest_entries',
    text: `SELECT DISTINCT ON (row_id) ${columns} FROM row_log WHERE table_id = $1 AND edit_version > $2 AND edit_version <= $3 ORDER BY row_id, edit_version DESC`,
    values: [tableId, after, upTo],
  });
  return rows;
}

/** The newest entry of each of some rows in a range of the log. */
export async function findNewestEntries(
  pool: pg.Pool | pg.PoolClient,
  tableId: string,
  rowIds: number[],
  after: number,
  upTo: number,
): Promise<LogRow[]> {
  const { rows } = await pool.query<LogRow>({
    name: 'newest_entries_of',
    text: `SELECT DISTINCT ON (row_id) ${columns} FROM row_log WHERE table_id = $1 AND row_id = ANY ($2) AND edit_version > $3 AND edit_version <= $4 ORDER BY row_id, edit_version DESC`,
    values: [tableId, rowIds, after, upTo],
  });
  return rows;
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
