/** A1 addresses as workbook files write them: cells, areas, whole rows and columns, with or without `$`. */

import type { Range } from '../grid/grid.ts';

export const MAX_ROWS = 1_048_576;
export const MAX_COLUMNS = 16_384;

/** 1 for `A`, 28 for `AB`; NaN when it is no column of a sheet. */
export function parseColumn(letters: string): number {
  let n = 0;
  for (let i = 0; i < letters.length; i += 1) {
    const digit = (letters.charCodeAt(i) & 0xdf) - 64;
    if (digit < 1 || digit > 26) return Number.NaN;
    n = n * 26 + digit;
  }
  return n >= 1 && n <= MAX_COLUMNS ? n : Number.NaN;
}

const letterCache: string[] = [''];

export function nameColumn(column: number): string {
  const known = letterCache[column];
  if (known !== undefined) return known;
  let letters = '';
  for (let n = column; n > 0; n = Math.floor((n - 1) / 26)) letters = String.fromCharCode(65 + ((n - 1) % 26)) + letters;
  if (column <= MAX_COLUMNS) letterCache[column] = letters;
  return letters;
}

/** `B3` for row 3, column 2. */
export function nameCell(row: number, column: number): string {
  return `${nameColumn(column)}${row}`;
}

/** `B3:F20`, or `B3` for a single cell. */
export function formatRange(range: Range): string {
  const first = nameCell(range.top, range.left);
  return range.top === range.bottom && range.left === range.right ? first : `${first}:${nameCell(range.bottom, range.right)}`;
}

const CELLS = /^\$?([A-Za-z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Za-z]{1,3})\$?([0-9]{1,7}))?$/;
const COLUMNS = /^\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})$/;
const ROWS = /^\$?([0-9]{1,7}):\$?([0-9]{1,7})$/;

/** `B3:F20` or `B3`; null for anything else, whole columns and rows included. */
export function parseRange(text: string): Range | null {
  return /\d/.test(text) && /^[$A-Za-z]/.test(text) ? parseArea(text.trim()) : null;
}

/** `B2:D9`, `$A$1`, `A:C`, `3:4`; null when it is none of them or lies outside a sheet. */
export function parseArea(text: string): Range | null {
  const cells = CELLS.exec(text);
  if (cells) {
    const [, column0 = '', row0, column1 = column0, row1 = row0] = cells;
    return makeRange(Number(row0), parseColumn(column0), Number(row1), parseColumn(column1));
  }
  const [, left, right] = COLUMNS.exec(text) ?? [];
  if (left && right) return makeRange(1, parseColumn(left), MAX_ROWS, parseColumn(right));
  const rows = ROWS.exec(text);
  return rows ? makeRange(Number(rows[1]), 1, Number(rows[2]), MAX_COLUMNS) : null;
}

function makeRange(row0: number, column0: number, row1: number, column1: number): Range | null {
  const range = {
    top: Math.min(row0, row1),
    left: Math.min(column0, column1),
    bottom: Math.max(row0, row1),
    right: Math.max(column0, column1),
  };
  return range.top >= 1 && range.bottom <= MAX_ROWS && range.left >= 1 ? range : null;
}
