import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import type { Services } from '../../store/services.ts';
import { openUnmasked } from '../tables/openTable.ts';

/** The ids of the rows at some positions, in row order. The ids alone are read, whatever the rows hold. */
export async function findRowIds(services: Services, at: TableAt, offset: number, count: number): Promise<number[]> {
  if (count <= 0 || offset >= at.rowCount) return [];
  const relation = await openUnmasked(services, { ...at, columns: [] });
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(
      connection,
      `SELECT CAST(${rowIdColumn} AS DOUBLE) FROM ${from} ORDER BY ${rowIdColumn} LIMIT ${count} OFFSET ${offset}`,
    );
    return rows.map(([id]) => id as number);
  });
}
