import type { Grid } from '../../core/grid/grid.ts';
import type { OutputTable } from '../../core/structuring/index.ts';
import type { RowOrder } from './rowOrder.ts';

/**
 * Cells that filled neighbouring columns of neighbouring rows: the cell `k` columns to the right and `n` rows below the first one
 * filled the column with the id `columnId + k` in the row `rowNumber + n`. A plain list is one such block.
 */
export interface ProvenanceBlock {
  rowNumber: number;
  rows: number;
  /** 0 for a cell that filled no column. */
  columnId: number;
  sheetRow: number;
  sheetColumn: number;
  length: number;
}

/** Where the cells of all rows stood. Rows are taken in the order of their ids. */
export function listBlocks(
  grid: Grid,
  { offsets, cells, columns }: OutputTable['provenance'],
  order: RowOrder,
  idOf: (position: number) => number,
): ProvenanceBlock[] {
  const blocks: ProvenanceBlock[] = [];
  /** The blocks of the row before, by their first cell. */
  let open: ProvenanceBlock[] = [];
  let before = { from: 0, to: 0, number: Number.NaN };
  for (let n = 0; n < order.count; n += 1) {
    const position = order.positionAt(n);
    const [from, to, number] = [offsets[position] ?? 0, offsets[position + 1] ?? 0, order.numberOf(position)];
    if (number === before.number + 1 && isBelow(grid, cells, columns, before, { from, to })) for (const block of open) block.rows += 1;
    else {
      open = listRuns(grid, cells, columns, { from, to }, number, idOf);
      blocks.push(...open);
    }
    before = { from, to, number };
  }
  return blocks;
}

interface Span {
  from: number;
  to: number;
}

/** Whether the cells of a row are those right below the cells of another, and filled the same columns. */
function isBelow(grid: Grid, cells: ArrayLike<number>, columns: ArrayLike<number>, above: Span, row: Span): boolean {
  const length = row.to - row.from;
  if (above.to - above.from !== length) return false;
  for (let k = 0; k < length; k += 1) {
    const [a, b] = [above.from + k, row.from + k];
    const [cell, other] = [cells[b] as number, cells[a] as number];
    if (columns[a] !== columns[b] || grid.columns[cell] !== grid.columns[other] || grid.rows[cell] !== (grid.rows[other] as number) + 1)
      return false;
  }
  return true;
}

function listRuns(
  grid: Grid,
  cells: ArrayLike<number>,
  columns: ArrayLike<number>,
  { from, to }: Span,
  rowNumber: number,
  idOf: (position: number) => number,
): ProvenanceBlock[] {
  const runs: ProvenanceBlock[] = [];
  for (let k = from; k < to; k += 1) {
    const [cell, columnId] = [cells[k] as number, idOf(columns[k] as number)];
    const [sheetRow, sheetColumn] = [grid.rows[cell] as number, grid.columns[cell] as number];
    const last = runs.at(-1);
    const isNext =
      last !== undefined &&
      last.sheetRow === sheetRow &&
      last.sheetColumn + last.length === sheetColumn &&
      last.columnId + last.length === columnId;
    if (isNext) last.length += 1;
    else runs.push({ rowNumber, rows: 1, columnId, sheetRow, sheetColumn, length: 1 });
  }
  return runs;
}
