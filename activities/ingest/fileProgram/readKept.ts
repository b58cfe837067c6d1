import { DomainError } from '../../../core/errors.ts';
import type { Grid } from '../../../core/grid/grid.ts';
import { WorkbookFile } from '../../../store/xlsx/index.ts';
import type { ReadLimits } from '../../../store/xlsx/readLimits.ts';
import { explainShortage } from './explainShortage.ts';

/** How much of a file may be kept in memory. */
export type KeepLimits = Pick<ReadLimits, 'cellsInMemory' | 'formulaCharacters'>;

/** Reads all sheets of a workbook into memory; null if they are too large for it. `step` is told the bytes of sheets that are read. */
export async function readKept(path: string, limits: KeepLimits, step: (done: number, total: number) => void): Promise<Grid[] | null> {
  try {
    const workbook = await WorkbookFile.open(path, { limits });
    try {
      return await readSheets(workbook, limits.cellsInMemory, step);
    } finally {
      await workbook.close();
    }
  } catch (error) {
    const why = explainShortage(error);
    if (why instanceof DomainError && why.code === 'too-large') return null;
    throw error;
  }
}

async function readSheets(workbook: WorkbookFile, mostCells: number, step: (done: number, total: number) => void): Promise<Grid[] | null> {
  // What is too much is better known before it is read for nothing.
  if ((await workbook.estimateCells(mostCells)) > mostCells) return null;
  const total = workbook.sheets.reduce((sum, { bytes }) => sum + bytes, 0);
  const grids: Grid[] = [];
  let cells = 0;
  for (const index of workbook.sheets.keys()) {
    const grid = await workbook.readSheet(index, cells);
    cells += grid.size;
    grids.push(grid);
    // What a damaged file says of its size may be wrong.
    step(Math.min(workbook.scannedBytes, total), total);
  }
  return grids;
}
