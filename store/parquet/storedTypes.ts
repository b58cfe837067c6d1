import type { ColumnType } from '../../core/cells/columnTypes.ts';
import { BooleanColumn, FixedColumn, type PutValue } from './columnEncoders.ts';
import { TextColumn } from './textColumn.ts';

/** How a column type is stored: Parquet's codes for it, and the encoder of its values. */
export interface StoredType {
  physical: number;
  /** Bytes per value for FIXED_LEN_BYTE_ARRAY; null otherwise. */
  length: number | null;
  optional: boolean;
  converted: number | null;
  decimal: { precision: number; scale: number } | null;
  /** Field number in Parquet's LogicalType union, which supersedes `converted`; null when there is none. */
  logical: number | null;
  open(): ValueColumn;
}

export type ValueColumn = TextColumn | FixedColumn | BooleanColumn;

const physical = { boolean: 0, int32: 1, int64: 2, double: 5, bytes: 6, fixed: 7 };
const plain: Omit<StoredType, 'physical' | 'open'> = { length: null, optional: true, converted: null, decimal: null, logical: null };

const int32: PutValue = (text, bytes, at) => putInt32(Number(text), bytes, at);
const int64: PutValue = (text, bytes, at) =>
  text.length <= 15 ? putInt64(readInteger(text), bytes, at) : putBigint(BigInt(text), bytes, at);

function readInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new RangeError('an integer in other words');
  return value;
}

/** A column whose values come as canonical text. */
export function storeType(type: ColumnType): StoredType {
  switch (type.kind) {
    case 'VARCHAR':
      return { ...plain, physical: physical.bytes, converted: 0, logical: 1, open: () => new TextColumn(true) };
    case 'JSON':
      return { ...plain, physical: physical.bytes, converted: 19, logical: 12, open: () => new TextColumn() };
    case 'BOOLEAN':
      return { ...plain, physical: physical.boolean, open: () => new BooleanColumn() };
    case 'DOUBLE':
      return { ...plain, physical: physical.double, open: () => new FixedColumn(8, putDouble, putNumber, putNumber, true) };
    case 'BIGINT':
      return { ...plain, physical: physical.int64, converted: 18, open: () => new FixedColumn(8, int64, putInt64, putInt64) };
    case 'DATE':
      return { ...plain, physical: physical.int32, converted: 6, logical: 6, open: () => new FixedColumn(4, putDate, putInt32, putInt32) };
    case 'TIME':
      return { ...plain, physical: physical.int64, converted: 8, logical: 7, open: () => new FixedColumn(8, putTime, putInt64) };
    case 'TIMESTAMP':
      return {
        ...plain,
        physical: physical.int64,
        converted: 10,
        logical: 8,
        open: () => new FixedColumn(8, putTimestamp, putInt64, putInt64),
      };
    case 'DECIMAL':
      return storeDecimal(type);
  }
}

/** The unscaled integer, in as many bytes as the precision needs. */
function storeDecimal({ precision, scale }: { precision: number; scale: number }): StoredType {
  const unscaled =
    (put: PutValue): PutValue =>
    (text, bytes, at) =>
      put(scale === 0 ? text : text.slice(0, -scale - 1) + text.slice(-scale), bytes, at);
  const common = { ...plain, converted: 5, decimal: { precision, scale }, logical: 5 };
  if (precision <= 9) return { ...common, physical: physical.int32, open: () => new FixedColumn(4, unscaled(int32), putInt32) };
  if (precision <= 18) return { ...common, physical: physical.int64, open: () => new FixedColumn(8, unscaled(int64), putInt64) };
  return { ...common, physical: physical.fixed, length: 16, open: () => new FixedColumn(16, unscaled(putWide), null) };
}

function putInt32(value: number, bytes: Buffer, at = 0): number {
  bytes.writeInt32LE(value, at);
  return value;
}

function putInt64(value: number, bytes: Buffer, at = 0): number {
  // `|` keeps the lower 32 bits; the division gives the upper ones.
  bytes.writeInt32LE(value | 0, at);
  bytes.writeInt32LE(Math.floor(value / 2 ** 32), at + 4);
  return value;
}

function putBigint(value: bigint, bytes: Buffer, at: number): number {
  bytes.writeBigInt64LE(value, at);
  return Number(value);
}

/** Big-endian two's complement. */
function putWide(text: string, bytes: Buffer, at: number): number {
  const value = BigInt(text);
  bytes.writeBigInt64BE(value >> 64n, at);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value), at + 8);
  return Number.NaN;
}

const doublesInWords: Record<string, number> = { inf: Number.POSITIVE_INFINITY, '-inf': Number.NEGATIVE_INFINITY, nan: Number.NaN };

export function readDouble(text: string): number {
  const value = doublesInWords[text] ?? Number(text);
  if (Number.isNaN(value) && text !== 'nan') throw new RangeError('a double in other words');
  return value;
}

function putNumber(value: number, bytes: Buffer, at = 0): number {
  bytes.writeDoubleLE(value, at);
  return value;
}

function putDouble(text: string, bytes: Buffer, at: number): number {
  return putNumber(readDouble(text), bytes, at);
}

const msPerDay = 86_400_000;
const microsPerDay = msPerDay * 1000;

function putDate(text: string, bytes: Buffer, at: number): number {
  return putInt32(readDays(text), bytes, at);
}

function putTime(text: string, bytes: Buffer, at: number): number {
  return putInt64(readMicros(text, 0), bytes, at);
}

function putTimestamp(text: string, bytes: Buffer, at: number): number {
  const [days, inDay] = [readDays(text.slice(0, 10)), readMicros(text, 11)];
  const micros = days * microsPerDay + inDay;
  // Microseconds of dates some centuries from 1970 exceed what a double holds exactly.
  if (Number.isSafeInteger(micros)) return putInt64(micros, bytes, at);
  return putBigint(BigInt(days) * BigInt(microsPerDay) + BigInt(inDay), bytes, at);
}

/** Days since 1970 of a date with a year of four digits. */
function readDays(text: string): number {
  const days = text.length === 10 ? Date.parse(`${text}T00:00:00Z`) / msPerDay : Number.NaN;
  if (Number.isNaN(days)) throw new RangeError('a date in another form');
  return days;
}

/** `HH:MM:SS`, with up to six digits of a second. */
function readMicros(text: string, at: number): number {
  const digit = (i: number) => text.charCodeAt(at + i) - 48;
  const pair = (i: number) => digit(i) * 10 + digit(i + 1);
  const seconds = pair(0) * 3600 + pair(3) * 60 + pair(6);
  const fraction = text.slice(at + 9).padEnd(6, '0');
  const micros = seconds * 1_000_000 + Number(fraction);
  if (Number.isNaN(micros) || fraction.length > 6) throw new RangeError('a time in another form');
  return micros;
}
