/** What must be known of a file to say whether a ParseSpec fits it: kept with the source, so that it is not read again. */

import type { Grid } from '../../grid/grid.ts';
import { key } from './sheet.ts';

export interface SheetExtent {
  name: string;
  /** Last row and column in use; merged cells count with all they cover. */
  rows: number;
  columns: number;
  /** Non-empty cells. */
  cells: number;
}

export function summarizeSheets(grids: Grid[]): SheetExtent[] {
  return grids.map((grid) => {
    const merges = new Map(grid.merges.map((merge) => [key(merge.top, merge.left), merge]));
    let rows = 0;
    let columns = 0;
    for (let i = 0; i < grid.size; i += 1) {
      const [row, column] = [grid.rows[i]!, grid.columns[i]!];
      const merge = merges.size === 0 ? undefined : merges.get(key(row, column));
      rows = Math.max(rows, merge?.bottom ?? row);
      columns = Math.max(columns, merge?.right ?? column);
    }
    return { name: grid.sheet, rows, columns, cells: grid.size };
  });
}
