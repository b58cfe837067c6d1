import { readFile, rm, stat } from 'node:fs/promises';
import { DomainError } from '../../core/errors.ts';
import type { StoredValue } from '../../core/types/index.ts';
import type { OpenFile } from './workOnFile.ts';

/** Rows are held in memory while they are appended to a table. */
const mostBytes = 64 * 1024 * 1024;

/** The rows of tables that the process has made, table by table. */
export async function readRows(file: OpenFile, tables: { index: number; rowCount: number }[]): Promise<StoredValue[][][]> {
  const { name } = await file.ask('writeRows', { tables: tables.map(({ index }) => index) });
  const path = await file.take(name);
  try {
    if ((await stat(path)).size > mostBytes)
      throw new DomainError(
        'too-large',
        `The rows to append take more than ${mostBytes} bytes.`,
        'Append fewer regions at a time, or make tables of their own from them.',
      );
    const lines = (await readFile(path, 'utf8')).split('\n');
    let from = 0;
    return tables.map(({ rowCount }) => {
      const rows = lines.slice(from, from + rowCount).map((line) => JSON.parse(line) as StoredValue[]);
      from += rowCount;
      return rows;
    });
  } finally {
    await rm(path, { force: true });
  }
}
