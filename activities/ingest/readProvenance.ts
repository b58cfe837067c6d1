import { joinCells, type SourceCell } from '../../core/structuring/index.ts';
import { type Layer, rowIdColumn } from '../../core/table/table.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import type { Storage } from '../../store/duckdb/writeFile.ts';

/** Cells of a sheet that stand side by side, and the columns of the row they filled. */
export interface RowCells {
  range: string;
  columnIds: number[];
}

/** The cells a structured row came from, by its number among the rows that landed with it; at most `limit` ranges: ask for one more than is shown to know whether there are more. */
export async function readRowCells(storage: Storage, provenanceKey: string, rowNumber: number, limit: number): Promise<RowCells[]> {
  const rows = await readFile(
    storage,
    provenanceKey,
    (path) => `SELECT column_id, sheet_row, sheet_column FROM read_parquet(${path}) WHERE row_number = ${asId(rowNumber)}`,
  );
  const cells = rows.values.map(([column, row, sheetColumn]): SourceCell => {
    return { row: Number(row), column: Number(sheetColumn), target: Number(column) === 0 ? null : Number(column) };
  });
  return present(cells, limit);
}

/** The same for a raw table: its row ids are `rowBase` and the number of the row, its columns those of the sheet. */
export async function readRawCells(storage: Storage, layers: Layer[], rowBase: number, rowId: number, limit: number): Promise<RowCells[]> {
  for (const layer of layers) {
    if (layer.kind !== 'segment' || rowId < layer.minRow || rowId > layer.maxRow) continue;
    const { names, values } = await readFile(
      storage,
      layer.key,
      (path) => `SELECT * FROM read_parquet(${path}) WHERE ${rowIdColumn} = ${asId(rowId)}`,
    );
    const [row] = values;
    if (!row) continue;
    const cells = names.flatMap((name, k): SourceCell[] => {
      const column = Number(/^c(\d+)$/.exec(name)?.[1] ?? 0);
      return column === 0 || row[k] === null ? [] : [{ row: rowId - rowBase, column, target: column }];
    });
    return present(cells, limit);
  }
  return [];
}

function present(cells: SourceCell[], limit: number): RowCells[] {
  return joinCells(cells)
    .slice(0, limit)
    .map(({ range, targets }) => ({ range, columnIds: targets }));
}

function asId(rowId: number): string {
  if (!Number.isSafeInteger(rowId)) throw new Error(`no row id: ${rowId}`);
  return String(rowId);
}

async function readFile(
  { engine, blobs }: Storage,
  key: string,
  select: (path: string) => string,
): Promise<{ names: string[]; values: unknown[][] }> {
  const opened = await blobs.open([key]);
  try {
    return await engine.use(async (connection) => {
      const reader = await connection.runAndReadAll(select(quoteText(opened.pathOf(key))));
      return { names: reader.columnNames(), values: reader.getRows() };
    });
  } finally {
    opened.release();
  }
}
