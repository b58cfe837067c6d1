/** Reading workbooks (xlsx, xlsm). */

import type { RowBatch } from '../../core/grid/batch.ts';
import type { Grid } from '../../core/grid/grid.ts';
import { type ScanOptions, WorkbookFile, type WorkbookOptions } from './workbookFile.ts';

export { DEFAULT_LIMITS, type ReadLimits } from './readLimits.ts';
export { SheetLayout } from './sheetLayout.ts';
export { WorkbookFile, type WorkbookOptions } from './workbookFile.ts';

export interface Workbook {
  sheets: Grid[];
  date1904: boolean;
  /** Sheets without cells (charts, dialogs, macros), by name. */
  skipped: string[];
  hasMacros: boolean;
}

/** Refuses what is no workbook, with advice; cheap, whatever the size of the file. */
export const recogniseWorkbook = (input: string | Uint8Array) => WorkbookFile.recognise(input);

/** Every sheet as a Grid. A sheet of millions of cells is better read by `scanSheet`. */
export async function readWorkbook(input: string | Uint8Array, options?: WorkbookOptions): Promise<Workbook> {
  const file = await WorkbookFile.open(input, options);
  try {
    const sheets: Grid[] = [];
    let cells = 0;
    for (let i = 0; i < file.sheets.length; i += 1) {
      const grid = await file.readSheet(i, cells);
      cells += grid.size;
      sheets.push(grid);
    }
    return { sheets, date1904: file.date1904, skipped: file.skipped, hasMacros: file.hasMacros };
  } finally {
    await file.close();
  }
}

/** One sheet in batches of rows, with bounded memory. For several sheets open a WorkbookFile. */
export async function* scanSheet(
  input: string | Uint8Array,
  sheet: number | string,
  options?: WorkbookOptions & ScanOptions,
): AsyncGenerator<RowBatch, void, undefined> {
  const file = await WorkbookFile.open(input, options);
  try {
    yield* file.scanSheet(sheet, options);
  } finally {
    await file.close();
  }
}
