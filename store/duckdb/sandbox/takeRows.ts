import { pageSeparator } from './protocol.ts';

/** Some of the rows in the text of objects of JSON that are separated by `pageSeparator`. Bytes, because all of it is only passed on. */
export function takeRows(rows: Buffer, offset: number, limit: number): Buffer {
  if (limit === 0) return rows.subarray(0, 0);
  const start = skipRows(rows, 0, offset);
  if (start < 0) return rows.subarray(0, 0);
  const end = skipRows(rows, start, limit);
  return rows.subarray(start, end < 0 ? rows.length : end - pageSeparator.length);
}

const [open, close] = [Buffer.from('['), Buffer.from(']')];

export const asArray = (rows: Buffer): Buffer => Buffer.concat([open, rows, close]);

/** The same rows, each on a line that ends. JSON has no line breaks of its own. */
export function writeLines(rows: Buffer): string {
  return rows.length === 0 ? '' : `${rows.toString('utf8').replaceAll(pageSeparator, '\n')}\n`;
}

/** Where the row after `count` more begins; negative if there is none. */
function skipRows(rows: Buffer, from: number, count: number): number {
  let at = from;
  for (let i = 0; i < count; i += 1) {
    const found = rows.indexOf(pageSeparator, at, 'latin1');
    if (found < 0) return -1;
    at = found + pageSeparator.length;
  }
  return at;
}
