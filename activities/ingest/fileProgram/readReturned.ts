import type { Range } from '../../../core/grid/grid.ts';
import { showHeader } from '../../../core/merge/compareSheet.ts';
import { takeGuardOff } from '../../../core/merge/fileCell.ts';
import { readGridCells, readTextCells, type SheetCells } from '../../../core/merge/sheetCells.ts';
import { readCsvBytes } from '../../../store/csv/index.ts';
import { findSheetMark } from '../../../store/xlsx/branchMarks.ts';
import { WorkbookFile } from '../../../store/xlsx/index.ts';
import { memoryLimits, readGrids } from './readInput.ts';
import type { FileInput, ReturnedSheet } from './requests.ts';

/** A file that comes back, with its sheets in memory. */
export interface ReturnedFile {
  branchId: string | null;
  sheets: OpenSheet[];
  isLoose: boolean;
}

interface OpenSheet {
  name: string;
  tableId: string | null;
  merges: Range[];
  cells: SheetCells;
}

export async function openReturned(input: FileInput): Promise<ReturnedFile> {
  const { path, filename } = input;
  if (input.format !== 'xlsx') {
    const { sheet: name, texts, ...cells } = await readCsvBytes(path, { filename, limits: memoryLimits });
    return { branchId: null, sheets: [{ name, tableId: null, merges: [], cells: readTextCells(cells, texts) }], isLoose: true };
  }
  const { grids } = await readGrids(input);
  const sheets = grids.map((grid) => {
    const { sheet: name, names, merges } = grid;
    return { name, tableId: findSheetMark(names)?.tableId ?? null, merges, cells: readGridCells(grid) };
  });
  const book = await WorkbookFile.open(path);
  try {
    return { branchId: await book.findBranch(), sheets, isLoose: false };
  } finally {
    await book.close();
  }
}

/** The first row is the header. */
export function describeReturned({ sheets, isLoose }: ReturnedFile): ReturnedSheet[] {
  return sheets.map(({ name, tableId, merges, cells }) => {
    const header: (string | null)[] = [];
    for (let i = 0; i < cells.size && cells.rows[i] === 1; i += 1) {
      const place = (cells.columns[i] ?? 1) - 1;
      while (header.length < place) header.push(null);
      const shown = showHeader(cells.readValue(i));
      header.push(isLoose ? takeGuardOff(shown) : shown);
    }
    const merged = merges.find(({ top, bottom }) => bottom > 1 || top > 1) ?? null;
    return { name, tableId, header, rows: countRows(cells), merged };
  });
}

function countRows({ rows, size }: SheetCells): number {
  let count = 0;
  for (let i = 0; i < size; i += 1) if (rows[i] !== rows[i - 1] && rows[i] !== 1) count += 1;
  return count;
}
