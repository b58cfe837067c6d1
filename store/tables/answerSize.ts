import type { DuckDBConnection } from '@duckdb/node-api';
import { answerTooLarge } from '../../core/errors.ts';
import { readAll } from '../duckdb/engine.ts';

/** What an answer that is made in memory may hold. */
export const mostAnswerBytes = 16 * 1024 * 1024;

/** What making such an answer takes at most. */
export const mostWorkBytes = 12 * mostAnswerBytes;

const hasLongCells = (type: string) => type === 'VARCHAR' || type === 'JSON';

/** SQL for the length of a cell; numbers and times are short. */
export const cellBytes = (cell: string, type: string) => (hasLongCells(type) ? `coalesce(strlen(CAST(${cell} AS VARCHAR)), 0)` : '0');

/** Adds up lengths before anything is read, so that a huge answer is refused before it fills the memory. */
export async function requireSmallAnswer(connection: DuckDBConnection, lengths: string[], from: string, fix: string): Promise<void> {
  const long = lengths.filter((length) => length !== '0');
  if (long.length === 0) return;
  const [[bytes] = [0]] = await readAll(connection, `SELECT CAST(coalesce(sum(${long.join(' + ')}), 0) AS DOUBLE) FROM ${from}`);
  if ((bytes as number) > mostAnswerBytes) throw answerTooLarge(mostAnswerBytes, fix);
}
