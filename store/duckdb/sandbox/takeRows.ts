import { pageSeparator } from './protocol.ts';

/** Some of the rows in a text of objects of JSON that are separated by `pageSeparator`. */
export function takeRows(rows: string, offset: number, limit: number): string {
  if (limit === 0) return '';
  const start = skipRows(rows, 0, offset);
  if (start < 0) return '';
  const end = skipRows(rows, start, limit);
  return end < 0 ? rows.slice(start) : rows.slice(start, end - pageSeparator.length);
}

/** The same rows, each on a line that ends. JSON has no line breaks of its own. */
export function writeLines(rows: string): string {
  return rows === '' ? '' : `${rows.replaceAll(pageSeparator, '\n')}\n`;
}

/** Where the row after `count` more begins; negative if there is none. */
function skipRows(rows: string, from: number, count: number): number {
  let at = from;
  for (let i = 0; i < count; i += 1) {
    const found = rows.indexOf(pageSeparator, at);
    if (found < 0) return -1;
    at = found + pageSeparator.length;
  }
  return at;
}
