/** Ranges in A1 notation, as the contract writes them. Rows and columns count from 1 here. */
export interface Range {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function toLetters(column: number): string {
  let letters = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

export const fromLetters = (letters: string): number => [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);

export function parseRange(text: string): Range | null {
  const found = /^\$?([A-Z]{1,3})\$?(\d+)(?::\$?([A-Z]{1,3})\$?(\d+))?$/.exec(text);
  if (!found) return null;
  const [, left = '', top = '', right = left, bottom = top] = found;
  return { left: fromLetters(left), top: Number(top), right: fromLetters(right), bottom: Number(bottom) };
}

export function formatRange({ left, top, right, bottom }: Range): string {
  const first = `${toLetters(left)}${top}`;
  const last = `${toLetters(right)}${bottom}`;
  return first === last ? first : `${first}:${last}`;
}

export const contains = (range: Range, column: number, row: number): boolean =>
  column >= range.left && column <= range.right && row >= range.top && row <= range.bottom;
