import type { DuckDBConnection } from '@duckdb/node-api';
import { type RowSelection, rowIdColumn, type TableVersion } from '../../core/table/table.ts';
import { readAll } from '../duckdb/engine.ts';
import { queryRowIds } from './openRelation.ts';
import { withStoredColumns } from './storedColumns.ts';
import type { TableStorage } from './tableStorage.ts';

/** The ids of the rows at some positions, in row order. Reads only the ids. */
export async function findRowIds(storage: TableStorage, at: TableVersion, offset: number, count: number): Promise<number[]> {
  if (count <= 0 || offset >= at.rowCount) return [];
  return queryRowIds(storage, at, null, (connection, from) =>
    readIds(connection, `${from} ORDER BY ${rowIdColumn} LIMIT ${count} OFFSET ${offset}`),
  );
}

/** Which of the given rows exist. */
export async function findExistingRows(storage: TableStorage, at: TableVersion, rowIds: number[]): Promise<Set<number>> {
  const ids = [...new Set(rowIds)].filter((id) => id > 0 && id < at.table.nextRowId);
  if (ids.length === 0) return new Set();
  return new Set(await queryRowIds(storage, at, { ids }, readIds));
}

export async function hasRow(storage: TableStorage, at: TableVersion, rowId: number): Promise<boolean> {
  const ids = await withStoredColumns(storage, at, { ids: [rowId] }, async (rows) => rows.ids);
  return ids ? ids.length > 0 : (await findExistingRows(storage, at, [rowId])).has(rowId);
}

/** Up to `count` row ids above `start`, in order. Ids are usually dense; over gaps, the range that is read grows. */
export async function listIdsAfter(storage: TableStorage, at: TableVersion, start: number, count: number): Promise<number[]> {
  const last = at.table.nextRowId - 1;
  const ids: number[] = [];
  for (let [after, width] = [start, count]; ids.length < count && after < last; width *= 8) {
    const span = { min: after + 1, max: Math.min(last, after + width) };
    const found = await withStoredColumns(storage, at, span, async (rows) => rows.ids);
    if (!found) return listByEngine(storage, at, start, count);
    for (const id of found) ids.push(id);
    after = span.max;
  }
  return ids.slice(0, count);
}

async function listByEngine(storage: TableStorage, at: TableVersion, start: number, count: number): Promise<number[]> {
  const rest: RowSelection = { min: start + 1, max: at.table.nextRowId };
  return queryRowIds(storage, at, rest, (connection, from) => readIds(connection, `${from} ORDER BY ${rowIdColumn} LIMIT ${count}`));
}

/** The row ids of a FROM clause; `from` may include what follows it. */
export async function readIds(connection: DuckDBConnection, from: string): Promise<number[]> {
  const rows = await readAll(connection, `SELECT CAST(${rowIdColumn} AS DOUBLE) FROM ${from}`);
  return rows.map(([id]) => id as number);
}
