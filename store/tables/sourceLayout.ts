import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteText } from '../duckdb/relation.ts';
import type { Storage } from '../duckdb/writeFile.ts';
import { selectCells } from './sourceCells.ts';

/** How the rows and columns of a table correspond to those of the sheet that it came from, as far as they do so one to one. */
export interface SourceLayout {
  /** Pairs of a row of the sheet and the number of the row among those that landed together. */
  rows: [sheetRow: number, rowNumber: number][];
  /** From columns of the sheet to column ids. */
  columns: Map<number, number>;
}

/**
 * A row of the table belongs to the row of the sheet that most of its cells came from. Columns with values from other rows, as
 * labels that stand for several rows, correspond to none.
 */
export async function readSourceLayout(storage: Storage, provenanceKey: string): Promise<SourceLayout> {
  return readKept(storage, provenanceKey, async (path, query, connection) => {
    const homes = `
      cells AS (SELECT * FROM (${await selectCells(connection, path)}) WHERE column_id > 0),
      counted AS (SELECT row_number, sheet_row, count(*) AS n FROM cells GROUP BY ALL),
      homes AS (SELECT row_number, arg_max(sheet_row, n) AS home FROM counted GROUP BY ALL)`;
    const rows = await query(
      `WITH ${homes} SELECT home, min(row_number)::DOUBLE FROM homes GROUP BY home HAVING count(*) = 1 ORDER BY home`,
    );
    const columns = await query(
      `WITH ${homes}, pairs AS (
         SELECT column_id, min(sheet_column) AS sheet_column FROM cells JOIN homes USING (row_number) GROUP BY column_id
         HAVING min(sheet_column) = max(sheet_column) AND bool_and(sheet_row = home))
       SELECT sheet_column, min(column_id) FROM pairs GROUP BY sheet_column HAVING count(*) = 1`,
    );
    return {
      rows: rows.map(([sheetRow, rowNumber]) => [Number(sheetRow), Number(rowNumber)]),
      columns: new Map(columns.map(([sheetColumn, columnId]) => [Number(sheetColumn), Number(columnId)])),
    };
  });
}

/** Columns of a raw table with cells that show something else than they hold, so that nothing can be computed from them. */
export async function listFormattedColumns(storage: Storage, keptKey: string): Promise<Set<number>> {
  return readKept(storage, keptKey, async (path, query) => {
    const rows = await query(`SELECT DISTINCT column_id FROM read_parquet(${path}) WHERE formula IS NULL`);
    return new Set(rows.map(([columnId]) => Number(columnId)));
  });
}

export interface KeptFormula {
  rowNumber: number;
  columnId: number;
  formula: string;
}

/** The formulas of some rows, which are counted among those that landed together. */
export async function readKeptFormulas(storage: Storage, keptKey: string, first: number, last: number): Promise<KeptFormula[]> {
  return readKept(storage, keptKey, async (path, query) => {
    const rows = await query(
      `SELECT row_number::DOUBLE, column_id, formula FROM read_parquet(${path})
       WHERE formula IS NOT NULL AND row_number BETWEEN ${Math.trunc(first)} AND ${Math.trunc(last)}`,
    );
    return rows.map(([rowNumber, columnId, formula]) => ({
      rowNumber: Number(rowNumber),
      columnId: Number(columnId),
      formula: String(formula),
    }));
  });
}

type Query = (sql: string) => Promise<unknown[][]>;

async function readKept<T>(
  { engine, blobs }: Storage,
  key: string,
  read: (path: string, query: Query, connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const opened = await blobs.open([key]);
  try {
    return await engine.use((connection) =>
      read(quoteText(opened.pathOf(key)), async (sql) => (await connection.runAndReadAll(sql)).getRows(), connection),
    );
  } finally {
    opened.release();
  }
}
