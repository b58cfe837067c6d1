import type { DuckDBConnection } from '@duckdb/node-api';
import type { FoundRow } from '../../core/table/layers.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { findRows as findFewRows, findRange, openRows, type RowsWanted, type TextRow } from '../parquet/findRows.ts';
import { innerName, opColumn } from './buildRelation.ts';
import { cellText } from './cellText.ts';
import { type Engine, readAll } from './engine.ts';
import { quoteText } from './relation.ts';

const wanted = `^(${rowIdColumn}|${opColumn}|c[0-9]+)$`;
const wantedPattern = new RegExp(wanted);
const fileColumns = { id: rowIdColumn, isKnown: (name: string) => wantedPattern.test(name) };

/** Beyond these, one pass over the file is quicker than a look at every place. */
const few = { rows: 8, cells: 1_000 };

/**
 * Rows of one file by id. The file names its columns by id, and what it says of a row is all that is asked. A column that
 * came after the file is not in the cells.
 */
export async function findFileRows(engine: Engine, path: string, rowIds: number[], columns: number): Promise<Map<number, FoundRow>> {
  const isFew = rowIds.length <= few.rows && rowIds.length * columns <= few.cells;
  const found = isFew ? findFewRows(path, rowIds, fileColumns) : null;
  const rows = found ?? (await engine.use((connection) => scanRows(connection, path, rowIds)));
  return new Map([...rows].map(([rowId, row]) => [rowId, asFound(row)]));
}

/** Rows of one file by a range of ids, with some of their columns. Null: only an engine can read it. */
export function findRowRange(path: string, range: { min: number; max: number }, columnIds: number[]): Map<number, FoundRow> | null {
  const names = new Set([opColumn, ...columnIds.map(innerName)]);
  const rows = findRange(path, range, fileColumns, (name) => names.has(name));
  return rows && new Map([...rows].map(([rowId, row]) => [rowId, asFound(row)]));
}

/** Rows of one file, to be read column by column. */
export interface FileRows {
  /** Those that the file tells of, ascending. */
  ids: number[];
  /** Whether it says of the row that it was removed. */
  isRemoved(index: number): boolean;
  /** The texts of a column, by its id; null when the file is older than the column. */
  texts(columnId: number): (string | null)[] | null;
  close(): void;
}

/** Throws `Unreadable` where only an engine can read it: here, or when a column is asked for. */
export function openFileRows(path: string, wanted: RowsWanted): FileRows {
  const rows = openRows(path, wanted, fileColumns);
  const ops = rows.texts(opColumn);
  return {
    ids: rows.ids,
    isRemoved: (index) => ops?.[index] === 'D',
    texts: (columnId) => rows.texts(innerName(columnId)),
    close: rows.close,
  };
}

/** Rows by id, by the engine: for any number of rows and any form of file. */
export async function scanRows(connection: DuckDBConnection, path: string, rowIds: number[]): Promise<Map<number, TextRow>> {
  const from = `read_parquet(${quoteText(path)})`;
  const described = (await readAll(connection, `DESCRIBE SELECT COLUMNS(${quoteText(wanted)}) FROM ${from}`)) as [string, string][];
  const texts = described.map(([name, type]) => `${cellText(name, type)} AS ${name}`);
  const reader = await connection.runAndReadAll(`SELECT ${texts.join(', ')} FROM ${from} WHERE ${rowIdColumn} IN (${rowIds.join(', ')})`);
  const rows = reader.getRowObjects() as TextRow[];
  return new Map(rows.map((row) => [Number(row[rowIdColumn]), row]));
}

function asFound({ [rowIdColumn]: _, [opColumn]: op, ...cells }: TextRow): FoundRow {
  if (op === 'D') return { removed: true };
  return { removed: false, cells: Object.fromEntries(Object.entries(cells).map(([name, text]) => [name.slice(1), text])) };
}
