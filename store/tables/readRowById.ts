import { isWide } from '../duckdb/wide.ts';
import { type PageRow, selectRows } from './fetchRows.ts';
import { lookUpRows } from './lookUpRows.ts';
import type { Projection } from './projection.ts';
import type { TableStorage } from './tableStorage.ts';
import { readWideRows } from './wideRows.ts';

/** A row by its id, or null. Reads the bytes of the row; DuckDB is asked only for files that it alone can read. */
export async function readRowById(storage: TableStorage, projection: Projection, rowId: number): Promise<PageRow | null> {
  if (rowId >= projection.visible.at.table.nextRowId) return null;
  if (isWide(projection.columns)) return (await readWideRows(storage, projection, [rowId]))[0] ?? null;
  const few = await lookUpRows(storage, projection, 1, rowId - 1);
  const rows = few.after >= rowId ? few.rows : await selectRows(storage, projection, { ids: [rowId] });
  return rows.find(({ id }) => id === rowId) ?? null;
}
