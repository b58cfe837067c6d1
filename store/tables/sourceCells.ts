import type { DuckDBConnection } from '@duckdb/node-api';
import { joinCells, type SourceCell } from '../../core/structuring/index.ts';
import { type Layer, rowIdColumn } from '../../core/table/table.ts';
import { quoteText } from '../duckdb/relation.ts';
import type { FileColumn, Storage } from '../duckdb/writeFile.ts';

/**
 * Two files belong to a table that came from a sheet. The provenance file says which cells each row came from; raw tables need
 * none. The kept file has the formulas, and stored values that differ from the shown ones.
 */

/** Blocks of cells: see `ProvenanceBlock`. */
export const provenanceColumns: FileColumn[] = [
  { id: 1, name: 'row_number', type: 'BIGINT' },
  { id: 5, name: 'row_count', type: 'BIGINT' },
  { id: 2, name: 'column_id', type: 'BIGINT' },
  { id: 3, name: 'sheet_row', type: 'BIGINT' },
  { id: 4, name: 'sheet_column', type: 'BIGINT' },
  { id: 6, name: 'length', type: 'BIGINT' },
];

/**
 * SQL of the cells in a provenance file, one row each: all, or those of a row. Files of earlier releases have no blocks.
 * `path` is quoted.
 */
export async function selectCells(connection: DuckDBConnection, path: string, rowNumber: number | null = null): Promise<string> {
  const schema = await connection.runAndReadAll(`SELECT 1 FROM parquet_schema(${path}) WHERE name = 'row_count'`);
  const row = rowNumber === null ? null : integerText(rowNumber);
  if (schema.currentRowCount === 0)
    return `SELECT row_number, column_id, sheet_row, sheet_column FROM read_parquet(${path}) ${row === null ? '' : `WHERE row_number = ${row}`}`;
  const rows =
    row === null
      ? `SELECT *, unnest(range(row_count)) AS down FROM read_parquet(${path})`
      : `SELECT *, ${row} - row_number AS down FROM read_parquet(${path}) WHERE row_number <= ${row} AND ${row} < row_number + row_count`;
  return `SELECT row_number + down AS row_number, column_id + along AS column_id, sheet_row + down AS sheet_row, sheet_column + along AS sheet_column
    FROM (SELECT *, unnest(range(length)) AS along FROM (${rows}))`;
}

export const keptColumns = [
  { id: 1, name: 'row_number', type: 'BIGINT' },
  { id: 2, name: 'column_id', type: 'INTEGER' },
  { id: 3, name: 'stored', type: 'VARCHAR' },
  { id: 4, name: 'formula', type: 'VARCHAR' },
] as const satisfies FileColumn[];

/** Neighbouring cells of a sheet, and the columns that they filled. */
export interface RowCells {
  range: string;
  columnIds: number[];
}

/** The cells that a structured row came from, in at most `limit` ranges. `rowNumber` counts the rows that landed together. */
export async function readRowCells(storage: Storage, provenanceKey: string, rowNumber: number, limit: number): Promise<RowCells[]> {
  const rows = await readFile(
    storage,
    provenanceKey,
    async (path, connection) => `SELECT column_id, sheet_row, sheet_column FROM (${await selectCells(connection, path, rowNumber)})`,
  );
  const cells = rows.values.map(([column, row, sheetColumn]): SourceCell => {
    return { row: Number(row), column: Number(sheetColumn), target: Number(column) === 0 ? null : Number(column) };
  });
  return joinRanges(cells, limit);
}

/** The same for a raw table: a row's id is `rowBase` plus its row in the sheet, and columns are those of the sheet. */
export async function readRawCells(storage: Storage, layers: Layer[], rowBase: number, rowId: number, limit: number): Promise<RowCells[]> {
  for (const layer of layers) {
    if (layer.kind !== 'segment' || rowId < layer.minRow || rowId > layer.maxRow) continue;
    const { names, values } = await readFile(
      storage,
      layer.key,
      async (path) => `SELECT * FROM read_parquet(${path}) WHERE ${rowIdColumn} = ${integerText(rowId)}`,
    );
    const [row] = values;
    if (!row) continue;
    const cells = names.flatMap((name, k): SourceCell[] => {
      const column = Number(/^c(\d+)$/.exec(name)?.[1] ?? 0);
      return column === 0 || row[k] === null ? [] : [{ row: rowId - rowBase, column, target: column }];
    });
    return joinRanges(cells, limit);
  }
  return [];
}

function joinRanges(cells: SourceCell[], limit: number): RowCells[] {
  return joinCells(cells)
    .slice(0, limit)
    .map(({ range, targets }) => ({ range, columnIds: targets }));
}

function integerText(n: number): string {
  if (!Number.isSafeInteger(n)) throw new Error(`not an integer: ${n}`);
  return String(n);
}

async function readFile(
  { engine, blobs }: Storage,
  key: string,
  select: (path: string, connection: DuckDBConnection) => Promise<string>,
): Promise<{ names: string[]; values: unknown[][] }> {
  const opened = await blobs.open([key]);
  try {
    return await engine.use(async (connection) => {
      const reader = await connection.runAndReadAll(await select(quoteText(opened.pathOf(key)), connection));
      return { names: reader.columnNames(), values: reader.getRows() };
    });
  } finally {
    opened.release();
  }
}
