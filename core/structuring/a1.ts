/** A1 references: the addresses people see in their sheet. */

import { nameColumn, parseArea, parseColumn } from '../grid/address.ts';
import type { Range } from '../grid/grid.ts';

export { nameColumn as columnLetters, parseColumn as columnNumber };

export function formatCell(row: number, column: number): string {
  return `${nameColumn(column)}${row}`;
}

export function formatRange(range: Range): string {
  const first = formatCell(range.top, range.left);
  return range.top === range.bottom && range.left === range.right ? first : `${first}:${formatCell(range.bottom, range.right)}`;
}

/** `B3:F20` or `B3`; null for anything else. */
export function parseRange(text: string): Range | null {
  return /\d/.test(text) && /^[$A-Za-z]/.test(text) ? parseArea(text.trim()) : null;
}
