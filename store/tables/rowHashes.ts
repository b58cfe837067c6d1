import type { DuckDBConnection } from '@duckdb/node-api';
import { type ColumnRecord, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { readAll } from '../duckdb/engine.ts';
import { quoteName } from '../duckdb/relation.ts';
import { queryTable } from './openRelation.ts';
import type { TableStorage } from './tableStorage.ts';

/** Whether columns tell all rows of a version apart and have a value in each. */
export async function isKey(storage: TableStorage, at: TableAt, columns: ColumnRecord[]): Promise<boolean> {
  const names = columns.map(({ name }) => quoteName(name));
  const tests = [`count(*) = count(DISTINCT (${names.join(', ')}))`, ...names.map((name) => `count(*) = count(${name})`)];
  const [[answer] = []] = await queryTable(storage, seeEverything({ ...at, columns }), null, (connection, from) =>
    readAll(connection, `SELECT ${tests.join(' AND ')} FROM ${from}`),
  );
  return answer === true;
}

/** The ids of all rows in their order, with hashes of some of their columns. */
export interface RowHashes {
  ids: Float64Array;
  contents: Float64Array;
  keys: Float64Array | null;
}

export async function readRowHashes(storage: TableStorage, at: TableAt, columns: ColumnRecord[], key: ColumnRecord[]): Promise<RowHashes> {
  const hash = (hashed: ColumnRecord[]) =>
    `CAST(hash(${hashed.map(({ name }) => quoteName(name)).join(', ')}) % (1::UBIGINT << 53) AS DOUBLE)`;
  const wanted = [`CAST(${rowIdColumn} AS DOUBLE)`, hash(columns), ...(key.length > 0 ? [hash(key)] : [])];
  return queryTable(storage, seeEverything({ ...at, columns }), null, async (connection, from) => {
    const [ids, contents, keys] = await readNumbers(
      connection,
      wanted.length,
      at.rowCount,
      `SELECT ${wanted.join(', ')} FROM ${from} ORDER BY ${rowIdColumn}`,
    );
    return { ids: ids as Float64Array, contents: contents as Float64Array, keys: keys ?? null };
  });
}

/** Columns of numbers, without an object for each row. */
async function readNumbers(connection: DuckDBConnection, width: number, rows: number, sql: string): Promise<Float64Array[]> {
  const columns = Array.from({ length: width }, () => new Float64Array(rows));
  const result = await connection.stream(sql);
  let count = 0;
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    if (count + chunk.rowCount > rows) throw new Error(`more than ${rows} rows where there should be so many`);
    for (const [k, column] of columns.entries()) column.set(chunk.getColumnValues(k) as number[], count);
    count += chunk.rowCount;
  }
  if (count !== rows) throw new Error(`${count} rows where there should be ${rows}`);
  return columns;
}

/** Hashes of the cells of some rows, 0 for blank, by row id. */
export async function readCellHashes(
  storage: TableStorage,
  at: TableAt,
  columns: ColumnRecord[],
  rowIds: number[],
): Promise<Map<number, number[]>> {
  const cells = columns.map(({ name }) => `CASE WHEN ${quoteName(name)} IS NULL THEN 0 ELSE 1 + hash(${quoteName(name)}) % 2147483646 END`);
  const wanted = `SELECT unnest([${rowIds.join(', ')}]::BIGINT[]) AS ${rowIdColumn}`;
  const sql = (from: string) =>
    `SELECT CAST(${rowIdColumn} AS DOUBLE), ${cells.map((cell) => `CAST(${cell} AS INTEGER)`).join(', ')} FROM ${from} SEMI JOIN (${wanted}) USING (${rowIdColumn})`;
  const found = await queryTable(storage, seeEverything({ ...at, columns }), null, (connection, from) => readAll(connection, sql(from)));
  return new Map(found.map(([id, ...hashes]) => [id as number, hashes as number[]]));
}
