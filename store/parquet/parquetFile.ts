/**
 * Writes a Parquet file row group by row group, uncompressed, with one page per column and group, and a dictionary where texts come again. Texts that are already bytes
 * are copied as they are, much faster than passing them to the engine one by one; and a sheet of 16,384 columns needs no more
 * memory than its texts.
 */

import { type FileHandle, open } from 'node:fs/promises';
import { type ColumnValues, type EncodedValues, encodeLevels, IntegerColumn } from './columnEncoders.ts';
import { CompactWriter } from './compactProtocol.ts';
import { type StoredType, storeType, type ValueColumn } from './storedTypes.ts';
import { TextColumn } from './textColumn.ts';

interface ParquetColumn {
  fieldId: number;
  name: string;
  /** `BIGINT` and `INTEGER` columns are never null; texts and table columns may be. */
  type: 'BIGINT' | 'INTEGER' | 'VARCHAR' | StoredType;
}

export interface GroupColumn<T extends ColumnValues = ColumnValues> {
  column: ParquetColumn;
  values: T;
}

interface Chunk {
  offset: number;
  /** Of the dictionary before the page; 0 without one. */
  dictionaryBytes: number;
  bytes: number;
  nulls: number;
  bounds: { min: Buffer; max: Buffer } | null;
}

interface Group {
  rows: number;
  bytes: number;
  /** By field id; columns that first appear in a later group are not in it. */
  chunks: Map<number, Chunk>;
}

const MAGIC = Buffer.from('PAR1');
const required = { length: null, optional: false, converted: null, decimal: null, logical: null };
const STORED = {
  INTEGER: { ...required, physical: 1 },
  BIGINT: { ...required, physical: 2 },
  VARCHAR: storeType({ kind: 'VARCHAR' }),
};
const storedAs = ({ type }: ParquetColumn): Omit<StoredType, 'open'> => (typeof type === 'string' ? STORED[type] : type);
const Encoding = { plain: 0, runLength: 3, dictionary: 8 } as const;
const Repetition = { required: 0, optional: 1 } as const;
const UNCOMPRESSED = 0;
const DATA_PAGE = 0;
const DICTIONARY_PAGE = 2;

export function openColumn(column: ParquetColumn & { type: 'VARCHAR' }): GroupColumn<TextColumn>;
export function openColumn(column: ParquetColumn & { type: 'BIGINT' | 'INTEGER' }): GroupColumn<IntegerColumn>;
export function openColumn(column: ParquetColumn & { type: StoredType }): GroupColumn<ValueColumn>;
export function openColumn(column: ParquetColumn): GroupColumn {
  if (typeof column.type === 'object') return { column, values: column.type.open() };
  return { column, values: column.type === 'VARCHAR' ? new TextColumn() : new IntegerColumn(column.type === 'BIGINT' ? 2 : 1) };
}

export class ParquetFile {
  /** Bytes written so far. */
  size = 0;
  private readonly groups: Group[] = [];
  private readonly columns = new Map<number, ParquetColumn>();

  private constructor(private readonly handle: FileHandle) {}

  static async create(path: string): Promise<ParquetFile> {
    const file = new ParquetFile(await open(path, 'wx'));
    await file.write([MAGIC]);
    return file;
  }

  get rows(): number {
    return this.groups.reduce((sum, group) => sum + group.rows, 0);
  }

  /** Entries in the footer so far, one for each column of each group. */
  get chunks(): number {
    return this.groups.length * this.columns.size;
  }

  /** Groups may have different columns; a column that a group lacks is null there. */
  async writeGroup(rows: number, columns: GroupColumn[]): Promise<void> {
    const group: Group = { rows, bytes: 0, chunks: new Map() };
    const pieces: Buffer[] = [];
    let offset = this.size;
    for (const { column, values } of columns) {
      this.columns.set(column.fieldId, column);
      const bounds = values.bounds();
      const { page, dictionary } = values.finish(rows);
      const before = dictionary ? [encodeDictionaryHeader(dictionary), dictionary.bytes] : [];
      const dictionaryBytes = countBytes(before);
      const header = encodePageHeader(rows, page, dictionary !== null);
      const bytes = dictionaryBytes + header.length + countBytes(page);
      group.chunks.set(column.fieldId, { offset, dictionaryBytes, bytes, nulls: rows - values.count, bounds });
      pieces.push(...before, header, ...page);
      offset += bytes;
    }
    this.groups.push(group);
    await this.write(pieces);
  }

  async finish(metadata: Record<string, string>): Promise<void> {
    const columns = [...this.columns.values()].sort((a, b) => a.fieldId - b.fieldId);
    for (const group of this.groups) await this.fillMissing(group, columns);
    const footer = encodeFooter(columns, this.groups, metadata);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    await this.write([footer, length, MAGIC]);
    await this.handle.close();
  }

  async abandon(): Promise<void> {
    await this.handle.close();
  }

  private async fillMissing(group: Group, columns: ParquetColumn[]): Promise<void> {
    const pieces: Buffer[] = [];
    const page = [encodeLevels(new Uint8Array(0), 0, group.rows)];
    const header = encodePageHeader(group.rows, page, false);
    const bytes = countBytes(page) + header.length;
    let offset = this.size;
    for (const { fieldId } of columns) {
      if (group.chunks.has(fieldId)) continue;
      group.chunks.set(fieldId, { offset, dictionaryBytes: 0, bytes, nulls: group.rows, bounds: null });
      pieces.push(header, ...page);
      offset += bytes;
    }
    await this.write(pieces);
  }

  private async write(pieces: Buffer[]): Promise<void> {
    if (pieces.length === 0) return;
    const bytes = countBytes(pieces);
    const { bytesWritten } = await this.handle.writev(pieces);
    // Whether all is taken at once is up to the system.
    if (bytesWritten < bytes) await this.handle.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
    this.size += bytes;
  }
}

function countBytes(pieces: Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function encodeDictionaryHeader({ entries, bytes }: NonNullable<EncodedValues['dictionary']>): Buffer {
  const out = new CompactWriter();
  out.int32(1, DICTIONARY_PAGE);
  out.int32(2, bytes.length);
  out.int32(3, bytes.length);
  out.struct(7, () => {
    out.int32(1, entries);
    out.int32(2, Encoding.plain);
  });
  return out.finish();
}

function encodePageHeader(rows: number, page: Buffer[], hasDictionary: boolean): Buffer {
  const bytes = countBytes(page);
  const out = new CompactWriter();
  out.int32(1, DATA_PAGE);
  out.int32(2, bytes);
  out.int32(3, bytes);
  out.struct(5, () => {
    out.int32(1, rows);
    out.int32(2, hasDictionary ? Encoding.dictionary : Encoding.plain);
    out.int32(3, Encoding.runLength);
    out.int32(4, Encoding.runLength);
  });
  return out.finish();
}

function encodeFooter(columns: ParquetColumn[], groups: Group[], metadata: Record<string, string>): Buffer {
  const out = new CompactWriter();
  out.int32(1, 1);
  out.structs(2, [null, ...columns], (column) => {
    if (column) encodeSchemaElement(out, column);
    else {
      out.int32(3, Repetition.required);
      out.binary(4, 'schema');
      out.int32(5, columns.length);
    }
  });
  out.int64(
    3,
    groups.reduce((sum, group) => sum + group.rows, 0),
  );
  out.structs(4, groups, (group) => {
    const chunks = columns.flatMap((column) => {
      const chunk = group.chunks.get(column.fieldId);
      return chunk ? [{ column, chunk }] : [];
    });
    out.structs(1, chunks, ({ column, chunk }) => encodeChunk(out, column, chunk, group.rows));
    out.int64(
      2,
      chunks.reduce((sum, { chunk }) => sum + chunk.bytes, 0),
    );
    out.int64(3, group.rows);
  });
  out.structs(5, Object.entries(metadata), ([key, value]) => {
    out.binary(1, key);
    out.binary(2, value);
  });
  out.binary(6, 'workbook-data-service');
  // Bounds are compared in the natural order of the type.
  out.structs(7, columns, () => out.struct(1, () => {}));
  return out.finish();
}

function encodeSchemaElement(out: CompactWriter, column: ParquetColumn): void {
  const { physical, length, optional, converted, decimal, logical } = storedAs(column);
  out.int32(1, physical);
  if (length !== null) out.int32(2, length);
  out.int32(3, optional ? Repetition.optional : Repetition.required);
  out.binary(4, column.name);
  if (converted !== null) out.int32(6, converted);
  if (decimal) {
    out.int32(7, decimal.scale);
    out.int32(8, decimal.precision);
  }
  out.int32(9, column.fieldId);
  if (logical !== null) out.struct(10, () => out.struct(logical, () => encodeLogical(out, logical, decimal)));
}

/** Times are local (no time zone), in microseconds. */
const clockTypes = new Set([7, 8]);

function encodeLogical(out: CompactWriter, logical: number, decimal: StoredType['decimal']): void {
  if (decimal) {
    out.int32(1, decimal.scale);
    out.int32(2, decimal.precision);
  }
  if (!clockTypes.has(logical)) return;
  out.bool(1, false);
  out.struct(2, () => out.struct(2, () => {}));
}

function encodeChunk(out: CompactWriter, column: ParquetColumn, chunk: Chunk, rows: number): void {
  const { offset, dictionaryBytes, bytes, nulls, bounds } = chunk;
  out.int64(2, offset);
  out.struct(3, () => {
    out.int32(1, storedAs(column).physical);
    out.int32s(2, [Encoding.plain, Encoding.runLength, ...(dictionaryBytes > 0 ? [Encoding.dictionary] : [])]);
    out.strings(3, [column.name]);
    out.int32(4, UNCOMPRESSED);
    out.int64(5, rows);
    out.int64(6, bytes);
    out.int64(7, bytes);
    out.int64(9, offset + dictionaryBytes);
    if (dictionaryBytes > 0) out.int64(11, offset);
    out.struct(12, () => {
      out.int64(3, nulls);
      if (bounds) {
        out.binary(5, bounds.max);
        out.binary(6, bounds.min);
      }
    });
  });
}
