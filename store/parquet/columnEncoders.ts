// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Collects the values of one column for one row group, already encoded as they are written to the file. */

export interface EncodedValues {
  /** Definition levels and values, or which entries of the dictionary they are, as the body of one page. */
  page: Buffer[];
  /** The values of the column, each once, if the page refers to them. */
  dictionary: { entries: number; bytes: Buffer } | null;
}

export interface ColumnValues {
  /** Values that are not null. */
  readonly count: number;
  /** Bytes in the file, about and at most. */
  readonly size: number;
  /** Nothing may be added afterwards. */
  finish(rows: number): EncodedValues;
  /** Smallest and largest value as stored; null when no bounds are kept. */
  bounds(): { min: Buffer; max: Buffer } | null;
}

/** Integers that are never null. */
export class IntegerColumn implements ColumnValues {
  count = 0;
  private words = new Int32Array(4096);
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;

  constructor(private readonly wordsEach: 1 | 2) {}

  get size(): number {
    return this.count * this.wordsEach * 4;
  }

  add(value: number): void {
    const at = this.count * this.wordsEach;
    if (at + 2 > this.words.length) {
      const grown = new Int32Array(this.words.length * 2);
      grown.set(this.words);
      this.words = grown;
    }
    this.words[at] = value | 0;
    // `|` keeps the lower 32 bits; the division gives the upper ones.
    if (this.wordsEach === 2) this.words[at + 1] = Math.floor(value / 2 ** 32);
    this.count += 1;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
  }

  finish(rows: number): EncodedValues {
    if (rows !== this.count) throw new Error(`${this.count} whole numbers in ${rows} rows`);
    return { page: [Buffer.from(this.words.buffer, 0, this.size)], dictionary: null };
  }

  bounds(): { min: Buffer; max: Buffer } {
    return { min: this.encode(this.min), max: this.encode(this.max) };
  }

  private encode(value: number): Buffer {
    const bytes = Buffer.alloc(this.wordsEach * 4);
    bytes.writeInt32LE(value | 0, 0);
    if (this.wordsEach === 2) bytes.writeInt32LE(Math.floor(value / 2 ** 32), 4);
    return bytes;
  }
}

/** Before a text, or a list of levels. */
export const LENGTH_BYTES = 4;

/** A column that may hold nulls: rows for which nothing is put are null. */
export abstract class OptionalColumn implements ColumnValues {
  count = 0;
  protected bytes = Buffer.allocUnsafe(1024);
  protected used = 0;
  private present = new Uint8Array(64);
  private lastRow = 0;

  get size(): number {
    return this.used + Math.min(this.lastRow >> 3, this.count * SPARSE_BYTES);
  }

  abstract bounds(): { min: Buffer; max: Buffer } | null;

  finish(rows: number): EncodedValues {
    return { page: [this.encodeLevels(rows), this.bytes.subarray(0, this.used)], dictionary: null };
  }

  protected encodeLevels(rows: number): Buffer {
    return encodeLevels(this.present, this.count, rows);
  }

  protected markRow(row: number): void {
    const at = row >> 3;
    if (at >= this.present.length) {
      const grown = new Uint8Array(Math.max(this.present.length * 2, at + 1));
      grown.set(this.present);
      this.present = grown;
    }
    this.present[at]! |= 1 << (row & 7);
    this.lastRow = row;
    this.count += 1;
  }

  protected reserve(length: number): void {
    if (this.used + length <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.used + length));
    this.bytes.copy(grown, 0, 0, this.used);
    this.bytes = grown;
  }
}

/** Writes a value, given as canonical text, at a position; returns it as a number, from which bounds are computed. */
export type PutValue = (text: string, bytes: Buffer, at: number) => number;

/** Values that all have the same number of bytes. */
export class FixedColumn extends OptionalColumn {
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly width: number,
    private readonly put: PutValue,
    /** Encodes a bound; null: no bounds are kept. */
    private readonly putNumber: ((value: number, bytes: Buffer) => void) | null,
    /** Writes a value that comes as a number; null: values come as text only. */
    private readonly putDirect: ((value: number, bytes: Buffer, at: number) => number) | null = null,
    /** Whether values are doubles, all of which are exact. */
    private readonly isDouble = false,
  ) {
    super();
  }

  putString(row: number, text: string): void {
    this.markRow(row);
    this.reserve(this.width);
    this.takeBound(this.put(text, this.bytes, this.used));
  }

  /** The same for a number: of days since 1970 for dates, of microseconds for moments. */
  putValue(row: number, value: number): void {
    if (!this.putDirect) throw new Error('a number in a column of texts');
    this.markRow(row);
    this.reserve(this.width);
    this.takeBound(this.putDirect(value, this.bytes, this.used));
  }

  private takeBound(value: number): void {
    this.used += this.width;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    // A value that a double cannot hold exactly makes the bounds unusable: infinite bounds are not written.
    if (this.isDouble ? !Number.isFinite(value) : !Number.isSafeInteger(value))
      [this.min, this.max] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  }

  bounds(): { min: Buffer; max: Buffer } | null {
    const { putNumber } = this;
    if (!putNumber || !Number.isFinite(this.min) || !Number.isFinite(this.max)) return null;
    const encode = (value: number) => {
      const bytes = Buffer.alloc(this.width);
      putNumber(value, bytes);
      return bytes;
    };
    return { min: encode(this.min), max: encode(this.max) };
  }
}

/** Booleans, one bit each. */
export class BooleanColumn extends OptionalColumn {
  putString(row: number, text: string): void {
    const bit = this.count & 7;
    this.markRow(row);
    if (bit === 0) {
      this.reserve(1);
      this.bytes[this.used] = 0;
      this.used += 1;
    }
    if (text === 'true') this.bytes[this.used - 1]! |= 1 << bit;
  }

  bounds(): null {
    return null;
  }
}

/** Definition levels (which rows have a value) in Parquet's RLE/bit-packing hybrid: runs when all rows are alike or values are rare. */
export function encodeLevels(present: Uint8Array, count: number, rows: number): Buffer {
  const packed = Math.ceil(rows / 8);
  let body: Uint8Array;
  if (count === 0 || count === rows) body = Uint8Array.from(encodeRun(rows, count === 0 ? 0 : 1));
  else if (isSparse(count, rows)) body = encodeSparse(present, rows);
  else {
    const header = encodeVarint(packed * 2 + 1);
    body = new Uint8Array(header.length + packed);
    body.set(header);
    // `present` may end after the last row with a value; the rest stays zero.
    body.set(present.subarray(0, packed), header.length);
  }
  const levels = Buffer.allocUnsafe(LENGTH_BYTES + body.length);
  levels.writeUInt32LE(body.length, 0);
  levels.set(body, LENGTH_BYTES);
  return levels;
}

/** Worst case for one value among nulls: two runs, each a length of up to three bytes and a level. */
const SPARSE_BYTES = 8;

function isSparse(count: number, rows: number): boolean {
  return count * SPARSE_BYTES * 8 < rows;
}

function encodeSparse(present: Uint8Array, rows: number): Uint8Array {
  const bytes: number[] = [];
  let done = 0;
  for (let at = 0; at < present.length; at += 1) {
    if (present[at] === 0) continue;
    for (let row = at * 8; row < Math.min(rows, at * 8 + 8); row += 1) {
      if (((present[at]! >> (row & 7)) & 1) === 0) continue;
      if (row > done) bytes.push(...encodeRun(row - done, 0));
      bytes.push(...encodeRun(1, 1));
      done = row + 1;
    }
  }
  if (done < rows) bytes.push(...encodeRun(rows - done, 0));
  return Uint8Array.from(bytes);
}

function encodeRun(length: number, level: 0 | 1): number[] {
  return [...encodeVarint(length * 2), level];
}

export function encodeVarint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}
