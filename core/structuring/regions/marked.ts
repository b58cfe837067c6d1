/** Tables that the workbook itself marks: Excel's own tables and pivot tables. Where they stand is not a guess. */

import type { Range } from '../../grid/grid.ts';
import { isBody, type Line, readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { LOOK_AHEAD_LINES, TITLE_GAP_ROWS } from '../thresholds.ts';

export interface MarkedTable {
  range: Range;
  firstDataRow: number;
}

const FILTER = '_xlnm._FilterDatabase';
const PRINTED = '_xlnm.print_area';

/** Without those that hold nothing, lie over one another, or are not all on the sheet. */
export function listMarked(view: SheetView): MarkedTable[] {
  const { grid, used } = view;
  if (!used) return [];
  const found: MarkedTable[] = [];
  for (const { range, headerRows } of [...grid.listObjects, ...(grid.pivots ?? [])]) {
    const own = { ...range, bottom: Math.min(range.bottom, used.bottom), right: Math.min(range.right, used.right) };
    const firstDataRow = range.top + headerRows;
    if (
      headerRows < 1 ||
      firstDataRow > own.bottom ||
      readLines(view, { ...own, bottom: Math.min(own.bottom, firstDataRow + LOOK_AHEAD_LINES) }).filter(isBody).length < 2
    )
      continue;
    if (!found.some((other) => overlaps(other.range, own))) found.push({ range: own, firstDataRow });
  }
  return found;
}

/** The one marked table of a block that has nothing at its sides; null where there is none. */
export function findMarked(marked: MarkedTable[], view: SheetView, block: Range): MarkedTable | null {
  const inside = marked.filter(({ range }) => contains(block, range));
  const [only] = inside;
  return only && inside.length === 1 && countBeside(view, block, only.range, 'left') + countBeside(view, block, only.range, 'right') === 0
    ? only
    : null;
}

/** Cuts a block around its marked tables; null where there is nothing to cut away. Titles stay with the table below them. */
export function splitMarked(view: SheetView, marked: MarkedTable[], block: Range, lines: Line[]): Range[] | null {
  const inside = marked.filter(({ range }) => contains(block, range)).map(({ range }) => range);
  for (const range of inside) {
    for (const side of ['right', 'left'] as const) {
      const column = findBlankColumn(view, block, range, side);
      if (column > 0 && !inside.some((other) => other.left < column && other.right >= column)) return cutColumns(block, column);
    }
    const crossed = (row: number) => inside.some((other) => other.top < row && other.bottom >= row);
    if (lines.some((line) => line.row > range.bottom && isBody(line)) && !crossed(range.bottom + 1))
      return cutRows(block, range.bottom + 1);
    const top = findTitleTop(lines, range.top);
    if (lines.some((line) => line.row < top && isBody(line)) && !crossed(top)) return cutRows(block, top);
  }
  return null;
}

/** The row of names under the buttons of a filter, which Excel sets on a header; 0 where a block has none. */
export function findFilterRow(view: SheetView, { top, left, bottom, right }: Range): number {
  for (const { name, range } of view.grid.names) {
    if (name !== FILTER || range.top < top || range.top >= bottom || range.left > right || range.right < left) continue;
    if ((Math.min(right, range.right) - Math.max(left, range.left) + 1) * 2 > right - left + 1) return range.top;
  }
  return 0;
}

/**
 * Cuts away what stands beyond the printed area, a blank row or column away from it: scribbles beside what is shown to others. A
 * list that has grown out of its printed area has no such gap.
 */
export function splitPrinted(view: SheetView, block: Range, lines: Line[]): Range[] | null {
  const areas = view.grid.names.filter(({ name }) => name.toLowerCase() === PRINTED);
  const [only] = areas;
  if (!only || areas.length > 1) return null;
  const { bottom, right } = only.range;
  const inside = lines.filter((line) => line.row <= bottom);
  const beyond = lines.filter((line) => line.row > bottom);
  if (beyond.some(isBody) && inside.filter(isBody).length > 1 && beyond[0]!.row > inside.at(-1)!.row + 1) return cutRows(block, bottom + 1);
  if (right <= block.left || right >= block.right) return null;
  const isBlank = (column: number) => readLines(view, { ...block, left: column, right: column }).length === 0;
  const besides = readLines(view, { ...block, left: right + 1 }).some(isBody);
  return besides && (isBlank(right) || isBlank(right + 1)) ? cutColumns(block, right + 1) : null;
}

/** The first of the lines of one text right above a table. */
function findTitleTop(lines: Line[], tableTop: number): number {
  let top = tableTop;
  for (const line of lines.filter(({ row }) => row < tableTop).reverse()) {
    if (isBody(line) || top - line.row > TITLE_GAP_ROWS) break;
    top = line.row;
  }
  return top;
}

/** Filled cells of the block beside a table, on its rows. */
function countBeside(view: SheetView, block: Range, range: Range, side: 'left' | 'right'): number {
  const own = side === 'left' ? { left: block.left, right: range.left - 1 } : { left: range.right + 1, right: block.right };
  return own.left > own.right ? 0 : readLines(view, { top: range.top, bottom: range.bottom, ...own }).length;
}

/** The blank column of a block nearest to a table that has something beside it; 0 where people have added columns to it. */
function findBlankColumn(view: SheetView, block: Range, range: Range, side: 'left' | 'right'): number {
  if (countBeside(view, block, range, side) === 0) return 0;
  const [step, edge] = side === 'left' ? [-1, range.left] : [1, range.right];
  for (let column = edge + step; column > block.left && column < block.right; column += step)
    if (readLines(view, { ...block, left: column, right: column }).length === 0) return column;
  return 0;
}

function cutColumns(block: Range, column: number): Range[] {
  return [
    { ...block, right: column - 1 },
    { ...block, left: column },
  ];
}

function cutRows(block: Range, row: number): Range[] {
  return [
    { ...block, bottom: row - 1 },
    { ...block, top: row },
  ];
}

function contains(block: Range, range: Range): boolean {
  return block.top <= range.top && block.left <= range.left && block.bottom >= range.bottom && block.right >= range.right;
}

function overlaps(a: Range, b: Range): boolean {
  return a.top <= b.bottom && b.top <= a.bottom && a.left <= b.right && b.left <= a.right;
}
