import type { Range } from '../grid/grid.ts';
import { MAX_COLUMNS, MAX_ROWS, nameColumn, parseColumn } from './address.ts';

/** A block of cells by its corners, as people write it: `B2`, `B2:D10`. */
type ParsedBlock = { ok: true; block: Range } | { ok: false; why: string };

const cell = /^\$?([A-Za-z]+)\$?(\d+)$/;

/** Corners may come in any order. Whole columns and rows are refused. */
export function parseBlock(text: string): ParsedBlock {
  const corners = text.trim().split(':');
  if (corners.length > 2) return refuse();
  const places: { row: number; column: number }[] = [];
  for (const corner of corners) {
    const match = cell.exec(corner.trim());
    if (!match) return refuse();
    const column = parseColumn(match[1] ?? '');
    const row = Number(match[2]);
    if (Number.isNaN(column)) return { ok: false, why: `has a column beyond ${nameColumn(MAX_COLUMNS)}` };
    if (row < 1) return { ok: false, why: 'has a row 0; rows count from 1' };
    if (row > MAX_ROWS) return { ok: false, why: `has a row beyond ${MAX_ROWS}` };
    places.push({ row, column });
  }
  const [rows, columns] = [places.map(({ row }) => row), places.map(({ column }) => column)];
  return {
    ok: true,
    block: { top: Math.min(...rows), left: Math.min(...columns), bottom: Math.max(...rows), right: Math.max(...columns) },
  };
}

function refuse(): ParsedBlock {
  return { ok: false, why: 'must name a cell or a block of cells, such as B2 or B2:D10' };
}

/** The cells that values cover when written at a range. The range must have their exact size, or be one cell: their top left. */
export function placeValues(range: Range, values: readonly (readonly unknown[])[]): ParsedBlock {
  const width = values[0]?.length ?? 0;
  if (width === 0) return { ok: false, why: 'has a row without cells' };
  const ragged = values.findIndex((row) => row.length !== width);
  if (ragged >= 0)
    return { ok: false, why: `is not a block: row ${ragged + 1} has ${values[ragged]?.length} cells, the first has ${width}` };
  const block = { top: range.top, left: range.left, bottom: range.top + values.length - 1, right: range.left + width - 1 };
  const isCell = range.top === range.bottom && range.left === range.right;
  if (!isCell && (block.bottom !== range.bottom || block.right !== range.right)) {
    const [rows, columns] = [range.bottom - range.top + 1, range.right - range.left + 1];
    return { ok: false, why: `is ${values.length} × ${width} cells, the range ${rows} × ${columns}` };
  }
  if (block.bottom > MAX_ROWS || block.right > MAX_COLUMNS) return { ok: false, why: 'goes beyond the last cell of a sheet' };
  return { ok: true, block };
}

export type Scalar = string | number | boolean | null;

/** Removes blank rows at the end and blank columns at the right. */
export function trimBlanks(values: Scalar[][]): Scalar[][] {
  const isBlank = (value: Scalar | undefined) => value === null || value === undefined || value === '';
  let height = values.length;
  while (height > 0 && values[height - 1]?.every(isBlank)) height -= 1;
  const kept = values.slice(0, height);
  let width = 0;
  for (const row of kept) for (let i = row.length; i > width; i -= 1) if (!isBlank(row[i - 1])) width = i;
  return kept.map((row) => row.slice(0, width));
}
