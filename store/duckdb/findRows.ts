import type { DuckDBConnection } from '@duckdb/node-api';
import { rowIdColumn } from './buildRelation.ts';
import { quoteText } from './relation.ts';

/** A row of a file: its cells as text by column id, or that it was removed. */
export type FoundRow = { removed: true } | { removed: false; cells: Record<string, string | null> };

const wanted = quoteText(`^(${rowIdColumn}|__svc_op|c[0-9]+)$`);

/**
 * Rows of one file by id. The file names its columns by id, and what it says of a row is all that is asked: without a
 * relation over several files, planning the read costs a third. A column that came after the file is not in the cells.
 */
export async function findRows(connection: DuckDBConnection, path: string, rowIds: number[]): Promise<Map<number, FoundRow>> {
  const reader = await connection.runAndReadAll(
    `SELECT CAST(COLUMNS(${wanted}) AS VARCHAR) FROM read_parquet(${quoteText(path)}) WHERE ${rowIdColumn} IN (${rowIds.join(', ')})`,
  );
  const names = reader.columnNames();
  const [idAt, opAt] = [names.indexOf(rowIdColumn), names.indexOf('__svc_op')];
  const found = new Map<number, FoundRow>();
  for (const row of reader.getRows() as (string | null)[][]) {
    if (opAt >= 0 && row[opAt] === 'D') {
      found.set(Number(row[idAt]), { removed: true });
      continue;
    }
    const cells: Record<string, string | null> = {};
    for (const [i, name] of names.entries()) if (i !== idAt && i !== opAt) cells[name.slice(1)] = row[i] ?? null;
    found.set(Number(row[idAt]), { removed: false, cells });
  }
  return found;
}
