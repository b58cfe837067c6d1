// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** From what a scanner gathered to the Grid that is handed over. */

import type { Grid, Range } from '../../core/grid/grid.ts';
import type { CellContext } from './cellScan.ts';
import type { SheetScanner, Span } from './sheetScan.ts';

interface SheetFacts {
  sheet: string;
  state: NonNullable<Grid['state']>;
  names: Grid['names'];
  listObjects: Grid['listObjects'];
  pivots?: NonNullable<Grid['pivots']>;
}

const FILTER_NAME = '_xlnm._FilterDatabase';

export function makeGrid(scanner: SheetScanner, context: CellContext, facts: SheetFacts): Grid {
  const { cells, formulas } = scanner.cell;
  formulas.settle(cells);
  cells.sort();
  formulas.spreadArrays(cells);
  const box = findBox(cells.rows, cells.columns, cells.size);
  const names = [...facts.names];
  if (scanner.autoFilter && !names.some(({ name }) => name === FILTER_NAME)) names.push({ name: FILTER_NAME, range: scanner.autoFilter });
  const grid: Grid = {
    sheet: facts.sheet,
    ...cells.toArrays(),
    strings: context.pool.strings,
    formulas: formulas.formulas,
    styles: context.styles.styles,
    blanks: box && context.blanks ? context.blanks.collect(box) : [],
    merges: scanner.merges,
    hiddenRows: expandSpans(scanner.hiddenRows, box?.bottom ?? 0),
    hiddenColumns: expandSpans(scanner.hiddenColumns, box?.right ?? 0),
    listObjects: facts.listObjects,
    names,
  };
  if (facts.pivots && facts.pivots.length > 0) grid.pivots = facts.pivots;
  if (scanner.frozenRow > 0) grid.frozenRow = scanner.frozenRow;
  if (facts.state !== 'visible') grid.state = facts.state;
  if (formulas.arrays.length > 0) grid.arrays = formulas.arrays;
  const outlines = collectOutlines(scanner.rowOutlines, box?.bottom ?? 0);
  if (outlines.size > 0) grid.rowOutlines = outlines;
  return grid;
}

function findBox(rows: Uint32Array, columns: Uint16Array, size: number): Range | null {
  if (size === 0) return null;
  let left = columns[0]!;
  let right = left;
  for (let i = 1; i < size; i += 1) {
    const column = columns[i]!;
    if (column < left) left = column;
    else if (column > right) right = column;
  }
  return { top: rows[0]!, left, bottom: rows[size - 1]!, right };
}

/** Leaves out hidden rows below the last cell: there can be a million, and they say nothing. */
function expandSpans(spans: Span[], last: number): Set<number> {
  const expanded = new Set<number>();
  for (const [first, end] of spans) for (let n = first; n <= Math.min(end, last); n += 1) expanded.add(n);
  return expanded;
}

function collectOutlines(levels: Uint8Array | null, last: number): Map<number, number> {
  const outlines = new Map<number, number>();
  for (let row = 1; levels && row <= last; row += 1) if (levels[row]! > 0) outlines.set(row, levels[row]!);
  return outlines;
}
