/** From a row of an output table back to the cells of its sheet. */

import { formatRange } from '../../a1/address.ts';
import type { Grid } from '../../grid/grid.ts';
import type { OutputTable } from './output.ts';

/** A cell of a sheet, and the column of the table it filled; null where it filled none. */
export interface SourceCell {
  row: number;
  column: number;
  target: number | null;
}

/** Cells that stand side by side, and the columns they filled. */
export interface SourceRange {
  range: string;
  targets: number[];
}

/** Neighbours in a row are joined; in the order of the sheet. */
export function joinCells(cells: SourceCell[]): SourceRange[] {
  const sorted = [...cells].sort((a, b) => a.row - b.row || a.column - b.column);
  const ranges: SourceRange[] = [];
  for (let k = 0; k < sorted.length; ) {
    const first = sorted[k]!;
    const targets = new Set<number>();
    let right = first.column;
    for (; sorted[k]?.row === first.row && sorted[k]!.column - right <= 1; k += 1) {
      const { column, target } = sorted[k]!;
      right = column;
      if (target !== null) targets.add(target);
    }
    ranges.push({ range: formatRange({ top: first.row, bottom: first.row, left: first.column, right }), targets: [...targets] });
  }
  return ranges;
}

/** A1 ranges of the cells behind row `n`, or behind one column of it; neighbours in a row are joined. */
export function listCells(grid: Grid, table: OutputTable, n: number, column?: number): string[] {
  const { offsets, cells, columns } = table.provenance;
  const own: SourceCell[] = [];
  for (let k = offsets[n] ?? 0; k < (offsets[n + 1] ?? 0); k += 1)
    if (column === undefined || columns[k] === column)
      own.push({ row: grid.rows[cells[k]!]!, column: grid.columns[cells[k]!]!, target: columns[k]! });
  return joinCells(own).map(({ range }) => range);
}
