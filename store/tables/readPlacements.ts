import { quoteText } from '../duckdb/relation.ts';
import type { Storage } from '../duckdb/writeFile.ts';
import { selectCells } from './sourceCells.ts';

/** That a cell of a sheet filled a column of a row. Rows are counted among those that landed together. */
export interface Placement {
  rowNumber: number;
  columnId: number;
  sheetRow: number;
  sheetColumn: number;
}

/** Where the cells of a table stood in its sheet. Null: they are more than `most`. */
export async function readPlacements({ engine, blobs }: Storage, provenanceKey: string, most: number): Promise<Placement[] | null> {
  const opened = await blobs.open([provenanceKey]);
  try {
    return await engine.use(async (connection) => {
      const reader = await connection.runAndReadAll(
        `SELECT row_number::DOUBLE, column_id::INTEGER, sheet_row::INTEGER, sheet_column::INTEGER
         FROM (${await selectCells(connection, quoteText(opened.pathOf(provenanceKey)))}) WHERE column_id > 0 LIMIT ${Math.trunc(most) + 1}`,
      );
      const rows = reader.getRows();
      if (rows.length > most) return null;
      return rows.map(([rowNumber, columnId, sheetRow, sheetColumn]) => ({
        rowNumber: Number(rowNumber),
        columnId: Number(columnId),
        sheetRow: Number(sheetRow),
        sheetColumn: Number(sheetColumn),
      }));
    });
  } finally {
    opened.release();
  }
}
