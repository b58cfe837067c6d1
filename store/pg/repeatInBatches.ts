import type pg from 'pg';

/** Repeats a statement with `LIMIT batchRows` until it finds fewer rows; returns how many rows it changed or deleted in all. */
export async function repeatInBatches(
  pool: pg.Pool,
  batchRows: number,
  statement: string,
  onBatch: () => void,
  values: unknown[] = [],
): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(statement, values);
    total += rowCount ?? 0;
    onBatch();
    if ((rowCount ?? 0) < batchRows) return total;
  }
}
