import { readFile, rm, stat } from 'node:fs/promises';
import { DomainError } from '../../core/errors.ts';
import type { StoredValue } from '../../core/types/index.ts';
import type { MadeTable } from './fileProgram/requests.ts';
import type { OpenFile } from './workOnFile.ts';

/** Rows are held in memory while they are appended to a table, several times over. */
const most = { values: 2_000_000, bytes: 32 * 1024 * 1024 };

/** The rows of tables that the process has made, table by table. */
export async function readRows(file: OpenFile, tables: (MadeTable & { index: number })[]): Promise<StoredValue[][][]> {
  const values = tables.reduce((sum, { rowCount, columns }) => sum + rowCount * columns.length, 0);
  if (values > most.values) throw tooMany(`have ${values} values; ${most.values} are possible`);
  const path = await file.take(await file.ask('writeRows', { tables: tables.map(({ index }) => index) }));
  try {
    if ((await stat(path)).size > most.bytes) throw tooMany(`take more than ${most.bytes} bytes`);
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

function tooMany(what: string): DomainError {
  return new DomainError(
    'too-large',
    `The rows to append ${what}.`,
    'Append fewer regions at a time, or make tables of their own from them.',
  );
}
