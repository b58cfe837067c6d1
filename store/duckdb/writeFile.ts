import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import type { LogEntry, LogRow } from '../../core/table/log.ts';
import { type ColumnRecord, rowIdColumn } from '../../core/table/table.ts';
import type { StoredValue } from '../../core/types/infer.ts';
import type { BlobStore, DraftStore } from '../blobs/blobStore.ts';
import { FixedColumn, IntegerColumn } from '../parquet/columnEncoders.ts';
import { type GroupColumn, openColumn, ParquetFile } from '../parquet/parquetFile.ts';
import { storeType, type ValueColumn } from '../parquet/storedTypes.ts';
import { fieldIds, innerName } from './buildRelation.ts';
import type { Engine } from './engine.ts';
import { quoteName, quoteText } from './relation.ts';
import { chooseGroupRows, groupRows, isWide } from './wide.ts';

export interface Storage {
  engine: Engine;
  blobs: BlobStore;
}

/** What writing needs of it. */
export interface DraftStorage {
  engine: Pick<Engine, 'use'>;
  blobs: DraftStore;
}

export interface WrittenFile {
  key: string;
  bytes: number;
}

/**
 * Row groups are small and uncompressed, so that a row can be read quickly. Keys are content hashes; a random marker makes
 * each unique, so deletion is safe.
 */
const parquetOptions = () =>
  `FORMAT parquet, ROW_GROUP_SIZE ${groupRows}, COMPRESSION uncompressed, KV_METADATA {svc_file: '${randomUUID()}'}`;

export interface FileColumn {
  id: number;
  name: string;
  type: string;
}

/** Writes rows that no earlier layer has; `rows` must be in order of ids. */
export async function writeSegment(storage: Storage, prefix: string, columns: ColumnRecord[], rows: LogEntry[]): Promise<WrittenFile> {
  return storeFile(storage, prefix, (path) => writeColumns(path, columns, rows));
}

/** Writes a temporary file by `write` and moves it to the blob store. */
export async function storeFile(
  storage: Pick<DraftStorage, 'blobs'>,
  prefix: string,
  write: (path: string) => Promise<void>,
): Promise<WrittenFile> {
  const draft = await storage.blobs.draft();
  try {
    await write(draft);
    const { key, size } = await storage.blobs.put(prefix, draft, 'parquet');
    return { key, bytes: size };
  } finally {
    await rm(draft, { force: true });
  }
}

/** Writes Parquet without DuckDB, directly from the cells' texts. `service` are columns of the service, before the others. */
async function writeColumns(path: string, columns: ColumnRecord[], rows: LogEntry[], service: TextColumn[] = []): Promise<void> {
  const stored = columns.map(({ id, type }) => ({ id, type: storeType(parseColumnType(type) as ColumnType) }));
  const size = chooseGroupRows(columns.length);
  const file = await ParquetFile.create(path);
  try {
    for (let first = 0; first < rows.length; first += size) {
      const group = rows.slice(first, first + size);
      const rowId = openColumn({ fieldId: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' });
      for (const row of group) rowId.values.add(row.rowId);
      const before = service.map(({ id, name, textOf }) => {
        const column = openColumn({ fieldId: id, name, type: 'VARCHAR' });
        for (const [i, row] of group.entries()) {
          const text = textOf(row);
          if (text !== null) column.values.putString(i, text);
        }
        return column;
      });
      const written = stored.map(({ id, type }) => openColumn({ fieldId: id, name: innerName(id), type }));
      for (const [i, { cells }] of group.entries()) {
        for (const { column, values } of written) {
          const text = cells?.[column.fieldId];
          if (text != null) values.putString(i, text);
        }
        // Lets other requests run in between.
        if (i % 256 === 255) await nextTurn();
      }
      await file.writeGroup(group.length, [rowId, ...before, ...written]);
    }
    await file.finish({ svc_file: randomUUID() });
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

/** Writes whole rows after a change, with the changed columns and old values; `rows` must be in order of ids. */
export async function writeDelta(storage: Storage, prefix: string, columns: ColumnRecord[], rows: LogEntry[]): Promise<WrittenFile> {
  if (isWide(columns)) return storeFile(storage, prefix, (path) => writeColumns(path, columns, rows, changeText));
  return writeRows(storage, prefix, [rowIdText, ...changeText, ...columns.map(asTextColumn)], rows);
}

/** Writes log entries with their versions. The cells are one JSON text, because absent cells must stay absent. */
export async function writeLog(storage: Storage, prefix: string, entries: LogRow[]): Promise<WrittenFile> {
  const version: TextColumn<LogRow> = {
    id: fieldIds.version,
    name: '__svc_version',
    type: 'BIGINT',
    textOf: (entry) => String(entry.editVersion),
  };
  const cells: TextColumn<LogRow> = {
    id: fieldIds.cells,
    name: '__svc_cells',
    type: 'VARCHAR',
    textOf: (entry) => entry.cells && JSON.stringify(entry.cells),
  };
  return writeRows(storage, prefix, [rowIdText, version, ...changeText, cells], entries);
}

interface TextColumn<Row = LogEntry> extends FileColumn {
  textOf(row: Row): string | null;
}

const rowIdText: TextColumn = { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT', textOf: (row) => String(row.rowId) };

const changeText: TextColumn[] = [
  { id: fieldIds.op, name: '__svc_op', type: 'VARCHAR', textOf: (row) => row.op },
  { id: fieldIds.changed, name: '__svc_changed', type: 'INTEGER[]', textOf: (row) => `[${row.changed.join(',')}]` },
  { id: fieldIds.before, name: '__svc_before', type: 'VARCHAR', textOf: (row) => row.before && JSON.stringify(row.before) },
];

function asTextColumn({ id, type }: ColumnRecord): TextColumn {
  return { id, name: innerName(id), type, textOf: (row) => row.cells?.[id] ?? null };
}

/** Writes the result of a SELECT whose columns have the inner names. The SELECT must sort the rows. */
export async function writeSelect(
  storage: Storage,
  prefix: string,
  columns: FileColumn[],
  connection: DuckDBConnection,
  select: string,
): Promise<WrittenFile> {
  const draft = await storage.blobs.draft();
  await connection.run(`COPY (${select}) TO ${quoteText(draft)} (${parquetOptions()}, ${fieldIdList(columns)})`);
  const { key, size } = await storage.blobs.put(prefix, draft, 'parquet');
  return { key, bytes: size };
}

export function fieldIdList(columns: FileColumn[]): string {
  // The element of a list column needs a field id too.
  const ids = columns.map(
    (column) =>
      `${quoteName(column.name)}: ${column.type.endsWith('[]') ? `{__duckdb_field_id: ${column.id}, element: ${column.id + 1000}}` : column.id}`,
  );
  return `FIELD_IDS {${ids.join(', ')}}`;
}

async function writeRows<Row>(storage: Storage, prefix: string, columns: TextColumn<Row>[], rows: Row[]): Promise<WrittenFile> {
  const quoted = columns.map(isText);
  function* lines() {
    for (const row of rows) {
      let line = '';
      for (let i = 0; i < columns.length; i += 1) {
        const text = (columns[i] as TextColumn<Row>).textOf(row);
        if (i > 0) line += ',';
        line += quoted[i] ? csvField(text) : (text ?? '\\N');
      }
      yield line;
    }
  }
  return writeLines(storage, prefix, columns, lines());
}

/** Types whose values may need quotes in CSV. */
const isText = ({ type }: { type: string }) => type === 'VARCHAR' || type === 'JSON' || type.endsWith('[]');

/** A field of a line for `writeLines`; only text needs it. */
function csvField(text: string | null): string {
  if (text === null) return '\\N';
  return text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`;
}

function selectTyped(columns: FileColumn[], source: string): string {
  const typed = columns.map((column) => `CAST(${quoteName(column.name)} AS ${column.type}) AS ${quoteName(column.name)}`);
  return `SELECT ${typed.join(', ')} FROM ${source}`;
}

/**
 * Writes lines of CSV as Parquet. DuckDB reads a CSV file many times faster than values passed one by one. Rows keep the
 * order of the lines. If `lines` throws, nothing is left behind.
 */
export async function writeLines(
  storage: DraftStorage,
  prefix: string,
  columns: FileColumn[],
  lines: Iterable<string>,
): Promise<WrittenFile> {
  const [csv, draft] = await Promise.all([storage.blobs.draft(), storage.blobs.draft()]);
  try {
    const longest = Math.max(2_097_152, await writeCsv(csv, lines));
    const types = columns.map((column) => `${quoteText(column.name)}: ${quoteText(isText(column) ? 'VARCHAR' : column.type)}`);
    const source = `read_csv(${quoteText(csv)}, columns = {${types.join(', ')}}, header = false, delim = ',', quote = '"', escape = '"', nullstr = '\\N', allow_quoted_nulls = false, auto_detect = false, new_line = '\\n', max_line_size = ${longest}, buffer_size = ${4 * longest}, strict_mode = true)`;
    await storage.engine.use((connection) =>
      connection.run(`COPY (${selectTyped(columns, source)}) TO ${quoteText(draft)} (${parquetOptions()}, ${fieldIdList(columns)})`),
    );
    const { key, size } = await storage.blobs.put(prefix, draft, 'parquet');
    return { key, bytes: size };
  } finally {
    await Promise.all([rm(csv, { force: true }), rm(draft, { force: true })]);
  }
}

/** Types that are written plainly as they are; values of the others are passed as texts. Columns of the service may be `INTEGER`. */
const plainTypes = new Set(['VARCHAR', 'BIGINT', 'INTEGER', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP']);

function openPlain({ id, name, type }: FileColumn): GroupColumn<ValueColumn | IntegerColumn> {
  if (type === 'INTEGER') return openColumn({ fieldId: id, name, type });
  return openColumn({ fieldId: id, name, type: storeType(parseColumnType(plainTypes.has(type) ? type : 'VARCHAR') as ColumnType) });
}

/** Values that are collected before they are written. */
const mostValues = 2_097_152;

export interface ValueSource {
  rows: number;
  /** Puts the values of a column from the row `first` on, before the row `last`; the first of them is row 0 of the target. */
  put(target: ValueColumn | IntegerColumn, column: number, first: number, last: number): void;
  /** Some more rows are written. */
  step(): void;
}

/**
 * Writes values as Parquet. Our own writer takes them many times faster than DuckDB would, one by one or as CSV; where a type needs it,
 * DuckDB then casts them. If `source` throws, nothing is left behind.
 */
export async function writeValues(storage: DraftStorage, prefix: string, columns: FileColumn[], source: ValueSource): Promise<WrittenFile> {
  if (columns.every(({ type }) => plainTypes.has(type)))
    return storeFile(storage, prefix, (path) => writePlain(path, columns, source, { svc_file: randomUUID() }));
  const plain = await storage.blobs.draft();
  try {
    const numbered = columns.map((column, k) => ({ ...column, id: k + 1 }));
    await writePlain(plain, numbered, source, {});
    const select = selectTyped(columns, `read_parquet(${quoteText(plain)})`);
    return await storeFile(storage, prefix, (draft) =>
      storage.engine.use(async (connection) => {
        await connection.run(`COPY (${select}) TO ${quoteText(draft)} (${parquetOptions()}, ${fieldIdList(columns)})`);
      }),
    );
  } finally {
    await rm(plain, { force: true });
  }
}

async function writePlain(
  path: string,
  columns: FileColumn[],
  { rows, put, step }: ValueSource,
  metadata: Record<string, string>,
): Promise<void> {
  const size = Math.max(1, Math.min(groupRows, Math.floor(mostValues / columns.length)));
  const file = await ParquetFile.create(path);
  try {
    // One group at least: a file without any has no columns.
    for (let first = 0; first === 0 || first < rows; first += size) {
      const last = Math.min(rows, first + size);
      const group = columns.map((each, k) => {
        const column = openPlain(each);
        put(column.values, k, first, last);
        return column;
      });
      await file.writeGroup(last - first, group);
      step();
    }
    await file.finish(metadata);
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

/** Puts one value after the other. */
export function putEach(valueAt: (row: number, column: number) => StoredValue): ValueSource['put'] {
  return (target, column, first, last) => {
    for (let row = first; row < last; row += 1) putValue(target, row - first, valueAt(row, column));
  };
}

export function putValue(values: ValueColumn | IntegerColumn, row: number, value: StoredValue): void {
  if (value === null) return;
  if (values instanceof IntegerColumn) values.add(Number(value));
  else if (typeof value === 'number' && values instanceof FixedColumn) values.putValue(row, value);
  else values.putString(row, String(value));
}

/** Characters per write. */
const writtenLength = 262_144;

/** Returns an upper bound of the longest line in bytes, which DuckDB's CSV reader must be told. */
async function writeCsv(path: string, lines: Iterable<string>): Promise<number> {
  const out = createWriteStream(path);
  let longest = 0;
  async function* texts() {
    let [text, length] = [[] as string[], 0];
    for (const line of lines) {
      longest = Math.max(longest, line.length * 3 + 2);
      text.push(line);
      length += line.length;
      if (length < writtenLength) continue;
      yield `${text.join('\n')}\n`;
      [text, length] = [[], 0];
    }
    if (text.length > 0) yield `${text.join('\n')}\n`;
  }
  await pipeline(texts, out);
  return longest;
}
