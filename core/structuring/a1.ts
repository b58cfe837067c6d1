/** A1 references: the addresses people see in their sheet. */

import type { Range } from '../grid/grid.js';

export function columnLetters(column: number): string {
  let letters = '';
  for (let n = column; n > 0; n = Math.floor((n - 1) / 26)) letters = String.fromCharCode(65 + ((n - 1) % 26)) + letters;
  return letters;
}

export function columnNumber(letters: string): number {
  let n = 0;
  for (const ch of letters.toUpperCase()) n = n * 26 + ch.charCodeAt(0) - 64;
  return n;
}

export function formatCell(row: number, column: number): string {
  return `${columnLetters(column)}${row}`;
}

export function formatRange(range: Range): string {
  const first = formatCell(range.top, range.left);
  return range.top === range.bottom && range.left === range.right ? first : `${first}:${formatCell(range.bottom, range.right)}`;
}

const RANGE = /^\$?([A-Za-z]{1,3})\$?(\d{1,7})(?::\$?([A-Za-z]{1,3})\$?(\d{1,7}))?$/;

export function parseRange(text: string): Range | null {
  const m = RANGE.exec(text.trim());
  if (!m) return null;
  const [c0, r0] = [columnNumber(m[1]!), Number(m[2])];
  const [c1, r1] = m[3] ? [columnNumber(m[3]), Number(m[4])] : [c0, r0];
  if (r0 < 1 || r1 < 1) return null;
  return { top: Math.min(r0, r1), left: Math.min(c0, c1), bottom: Math.max(r0, r1), right: Math.max(c0, c1) };
}
