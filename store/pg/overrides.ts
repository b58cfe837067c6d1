import type pg from 'pg';
import type { OverriddenCell, Override, OverrideChanges } from '../../core/overrides/override.ts';
import type { Tx } from './commit.ts';

const selectLive = `SELECT row_id::float8 AS "rowId", column_id AS "columnId", value, below FROM overrides WHERE table_id = $1 AND to_version IS NULL`;

/** The overrides of a table that hold now; of some rows, or of all. */
export async function listOverrides(pool: pg.Pool, tableId: string, rowIds: number[] | null): Promise<Override[]> {
  const { rows } = await pool.query<Override>(`${selectLive} AND ($2::bigint[] IS NULL OR row_id = ANY ($2)) ORDER BY row_id, column_id`, [
    tableId,
    rowIds,
  ]);
  return rows;
}

export async function countOverrides(pool: pg.Pool, tableId: string): Promise<number> {
  const { rows } = await pool.query<{ n: string }>('SELECT count(*) AS n FROM overrides WHERE table_id = $1 AND to_version IS NULL', [
    tableId,
  ]);
  return Number(rows[0]?.n ?? 0);
}

/** The cells that were overridden just before a version was made. */
export async function listOverriddenBefore(
  pool: pg.Pool,
  tableId: string,
  editVersion: number,
  rowIds: number[],
): Promise<OverriddenCell[]> {
  const { rows } = await pool.query<OverriddenCell>(
    `SELECT DISTINCT row_id::float8 AS "rowId", column_id AS "columnId" FROM overrides
     WHERE table_id = $1 AND row_id = ANY ($3) AND from_version < $2 AND (to_version IS NULL OR to_version >= $2)`,
    [tableId, editVersion, rowIds],
  );
  return rows;
}

/** Cells as parameters: row ids, then column ids. */
const placesOf = (cells: readonly OverriddenCell[]) => [cells.map(({ rowId }) => rowId), cells.map(({ columnId }) => columnId)];

/** Text of the database holds no U+0000, which a transform may give. */
export const storableText = (text: string | null): string | null => text?.replaceAll('\0', '\uFFFD') ?? null;

/** Sets and ends overrides with a version. One that is set again is remembered as it was before. */
export async function writeOverrides(
  tx: Tx,
  table: { id: string; accountId: string },
  editVersion: number,
  { set, dropped }: OverrideChanges,
): Promise<void> {
  await endOverrides(tx, table.id, editVersion, [...set, ...dropped]);
  if (set.length === 0) return;
  await tx.client.query(
    `INSERT INTO overrides (table_id, account_id, from_version, row_id, column_id, value, below)
     SELECT $1, $2, $3, given.* FROM unnest($4::bigint[], $5::integer[], $6::text[], $7::text[]) AS given`,
    [
      table.id,
      table.accountId,
      editVersion,
      ...placesOf(set),
      set.map(({ value }) => storableText(value)),
      set.map(({ below }) => storableText(below)),
    ],
  );
}

/** Ends overrides with a version, which has them no more. */
export async function endOverrides(tx: Tx, tableId: string, editVersion: number, cells: readonly OverriddenCell[]): Promise<void> {
  if (cells.length === 0) return;
  await tx.client.query(
    `UPDATE overrides o SET to_version = $2 FROM unnest($3::bigint[], $4::integer[]) AS given (row_id, column_id)
     WHERE o.table_id = $1 AND o.row_id = given.row_id AND o.column_id = given.column_id AND o.to_version IS NULL`,
    [tableId, editVersion, ...placesOf(cells)],
  );
}

/** Makes those overrides hold again, from a new version on, that held at an older one; others end. */
export async function restoreOverrides(tx: Tx, tableId: string, oldVersion: number, newVersion: number): Promise<void> {
  await tx.client.query('UPDATE overrides SET to_version = $2 WHERE table_id = $1 AND to_version IS NULL', [tableId, newVersion]);
  await tx.client.query(
    `INSERT INTO overrides (table_id, account_id, from_version, row_id, column_id, value, below)
     SELECT table_id, account_id, $3, row_id, column_id, value, below FROM overrides
     WHERE table_id = $1 AND from_version <= $2 AND to_version > $2`,
    [tableId, oldVersion, newVersion],
  );
}
