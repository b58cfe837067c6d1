import type { DuckDBConnection } from '@duckdb/node-api';
import type { FoundRow } from '../../core/table/layers.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { findRange, findRows, openRows, type RowsWanted, type TextRow } from '../parquet/findRows.ts';
import { innerName, opColumn } from './buildRelation.ts';
import { cellText } from './cellText.ts';
import { type Engine, readAll } from './engine.ts';
import { quoteText } from './relation.ts';

const wanted = `^(${rowIdColumn}|${opColumn}|c[0-9]+)$`;
const wantedPattern = new RegExp(wanted);
const fileColumns = { id: rowIdColumn, isKnown: (name: string) => wantedPattern.test(name) };

/** Up to these sizes, reading rows one by one is faster than a scan of the file. */
const few = { rows: 8, cells: 1_000 };

/** Rows of one file by id. Columns that were added after the file was written are missing in the cells. */
export async function findFileRows(engine: Engine, path: string, rowIds: number[], columns: number): Promise<Map<number, FoundRow>> {
  const isFew = rowIds.length <= few.rows && rowIds.length * columns <= few.cells;
  const found = isFew ? findRows(path, rowIds, fileColumns) : null;
  const rows = found ?? (await engine.use((connection) => scanFileRows(connection, path, rowIds)));
  return new Map([...rows].map(([rowId, row]) => [rowId, asFound(row)]));
}

/** Rows of one file by a range of ids, with some of their columns. Null: only DuckDB can read the file. */
export function findFileRowRange(path: string, range: { min: number; max: number }, columnIds: number[]): Map<number, FoundRow> | null {
  const names = new Set([opColumn, ...columnIds.map(innerName)]);
  const rows = findRange(path, range, fileColumns, (name) => names.has(name));
  return rows && new Map([...rows].map(([rowId, row]) => [rowId, asFound(row)]));
}

/** Rows of one file, to be read column by column. */
export interface FileRows {
  /** Ids of the wanted rows that are in the file, ascending. */
  ids: number[];
  /** Whether the file records the row as removed. */
  isRemoved(index: number): boolean;
  /** The texts of a column. Null: the file is older than the column. */
  texts(columnId: number): (string | null)[] | null;
  close(): void;
}

/** Throws `Unreadable`, here or in `texts`, if only DuckDB can read the file. */
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

/** Reads rows by id with DuckDB: for any number of rows and any form of file. */
export async function scanFileRows(connection: DuckDBConnection, path: string, rowIds: number[]): Promise<Map<number, TextRow>> {
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
