import { type DuckDBDataChunk, type DuckDBType, DuckDBTypeId as Id } from '@duckdb/node-api';
import { isValid } from '../../../../core/table/textBatch.ts';
import { copyText, type RawColumn, readColumn, sumText } from '../../formats/rawChunk.ts';
import { pageSeparator } from '../protocol.ts';
import { ReusedBytes, TextBytes } from './textBytes.ts';

/**
 * Writes rows as JSON from the engine's chunks, by the rules of store/duckdb/json.ts, for types whose JSON can be cast back
 * without loss: the text is what is kept of the result. Values go from the engine's memory to the answer as bytes.
 */
export interface JsonRows {
  /** False: something cannot be written so, or the text would be longer than wanted. Nothing was added then. */
  add(chunk: DuckDBDataChunk): boolean;
  /** The rows as an array, in UTF-8. No more can be added then. */
  end(): Buffer;
}

/**
 * Used by one answer after the other: a new piece of memory for each would let the garbage collector run for every few of them.
 * An answer has been sent when the next question comes.
 */
const [out, texts] = [new TextBytes(), new ReusedBytes(1_048_576)];

/** Null: the columns have types that are not written here. What was written before is not to be read any more. */
export function openJsonRows(names: string[], types: DuckDBType[], mostBytes: number): JsonRows | null {
  const openers: Open[] = [];
  for (const type of types) {
    const open = openerOf(type);
    if (!open) return null;
    openers.push(open);
  }
  const keys = names.map((name, i) => Buffer.from(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`));
  out.clear();
  out.put('[');
  const addRows = (columns: Column[], rows: number): boolean => {
    for (let row = 0; row < rows; row += 1) {
      if (out.length > 1) out.put(pageSeparator);
      for (let i = 0; i < columns.length; i += 1) {
        const { validity, write } = columns[i] as Column;
        const key = keys[i] as Buffer;
        out.putBytes(key, 0, key.length);
        if (!isValid(validity, row)) out.put('null');
        else if (!write(row, out)) return false;
      }
      out.put('}');
      if (out.length > mostBytes) return false;
    }
    return true;
  };
  return {
    add(chunk) {
      texts.clear();
      const columns: Column[] = [];
      for (const [i, open] of openers.entries()) {
        const column = readColumn(chunk, i);
        const write = open(column, mostBytes);
        if (!write) return false;
        columns.push({ validity: column.validity, write });
      }
      const before = out.length;
      const isWritten = addRows(columns, chunk.rowCount);
      if (!isWritten) out.length = before;
      return isWritten;
    },
    end() {
      out.put(']');
      const { buffer, byteOffset, length } = out.view();
      return Buffer.from(buffer, byteOffset, length);
    },
  };
}

interface Column {
  validity: Uint8Array | null;
  write: Write;
}

/** Adds the value of a row, which is not null. False: it cannot be written. */
type Write = (row: number, out: TextBytes) => boolean;
/** Null: some value cannot be written. */
type Open = (column: RawColumn, mostBytes: number) => Write | null;

function openerOf(type: DuckDBType): Open | null {
  switch (type.typeId) {
    case Id.BOOLEAN:
      return wholeNumbers(Uint8Array, (value, out) => out.put(value === 0 ? 'false' : 'true'));
    case Id.TINYINT:
      return wholeNumbers(Int8Array, addInteger);
    case Id.SMALLINT:
      return wholeNumbers(Int16Array, addInteger);
    case Id.INTEGER:
      return wholeNumbers(Int32Array, addInteger);
    case Id.UTINYINT:
      return wholeNumbers(Uint8Array, addInteger);
    case Id.USMALLINT:
      return wholeNumbers(Uint16Array, addInteger);
    case Id.UINTEGER:
      return wholeNumbers(Uint32Array, addInteger);
    case Id.BIGINT:
      return longNumbers(addInteger, addLong);
    case Id.UBIGINT:
      return longNumbers(addInteger, addLong, false);
    case Id.HUGEINT:
      return hugeNumbers((value, out) => {
        if (value >= -largestExact && value <= largestExact) out.put(String(value));
        else addLong(value, out);
      });
    case Id.DOUBLE:
      return openDoubles;
    case Id.VARCHAR:
      return type.alias === 'JSON' ? null : openTexts;
    case Id.DECIMAL:
      return decimals(type.width, type.scale);
    case Id.DATE:
      return openDays;
    case Id.TIMESTAMP:
      return moments('"');
    case Id.TIMESTAMP_TZ:
      return moments('Z"');
    default:
      return null;
  }
}

const addInteger = (value: number, out: TextBytes) => out.putInteger(value);
/** Numbers that JavaScript cannot hold are texts. */
const addLong = (value: bigint, out: TextBytes) => out.put(`"${value}"`);

type Small = typeof Int8Array | typeof Uint8Array | typeof Int16Array | typeof Uint16Array | typeof Int32Array | typeof Uint32Array;

function view<T>(
  of: { new (buffer: ArrayBufferLike, from: number, count: number): T; BYTES_PER_ELEMENT: number },
  column: RawColumn,
  each = 1,
): T {
  const data = column.data(of.BYTES_PER_ELEMENT * each);
  return new of(data.buffer, data.byteOffset, column.rowCount * each);
}

const wholeNumbers =
  (of: Small, add: (value: number, out: TextBytes) => void): Open =>
  (column) => {
    const values: ArrayLike<number> = view<ArrayLike<number>>(of, column);
    return (row, out) => {
      add(values[row] as number, out);
      return true;
    };
  };

const largestExact = BigInt(Number.MAX_SAFE_INTEGER);
const word = 0x100000000;

/** Numbers of eight bytes: those that JavaScript holds exactly, and others. */
const longNumbers =
  (add: (value: number, out: TextBytes) => void, addOther: (value: bigint, out: TextBytes) => void, isSigned = true): Open =>
  (column) => {
    const halves = view(Uint32Array, column, 2);
    return (row, out) => {
      const [low, half] = [halves[2 * row] as number, halves[2 * row + 1] as number];
      const high = isSigned ? half | 0 : half;
      const value = high * word + low;
      if (Number.isSafeInteger(value)) add(value, out);
      else addOther((BigInt(high) << 32n) | BigInt(low), out);
      return true;
    };
  };

const hugeNumbers =
  (add: (value: bigint, out: TextBytes) => void): Open =>
  (column) => {
    const [low, high] = [view(BigUint64Array, column, 2), view(BigInt64Array, column, 2)];
    return (row, out) => {
      add(((high[2 * row + 1] as bigint) << 64n) | (low[2 * row] as bigint), out);
      return true;
    };
  };

/** NaN and infinities are null in JSON, so what is kept would not have them. */
const openDoubles: Open = (column) => {
  const values = view(Float64Array, column);
  return (row, out) => {
    const value = values[row] as number;
    if (!Number.isFinite(value)) return false;
    if ((value | 0) === value && !Object.is(value, -0)) out.putInteger(value);
    else out.put(Object.is(value, -0) ? '-0.0' : String(value));
    return true;
  };
};

/** Null: they are longer than wanted, or one has U+0000, which is left to the engine. */
const openTexts: Open = (column, mostBytes) => {
  if (sumText(column) > mostBytes) return null;
  const { bytes, offsets } = copyText(column, (count) => texts.take(count));
  if (bytes.includes(0)) return null;
  return (row, out) => {
    const [from, to] = [offsets[row] as number, offsets[row + 1] as number];
    if (out.putPlainText(bytes, from, to)) return true;
    const escaped = Buffer.from(JSON.stringify(bytes.toString('utf8', from, to)));
    out.putBytes(escaped, 0, escaped.length);
    return true;
  };
};

/** The engine holds them as whole numbers of as few bytes as their digits need. */
function decimals(width: number, scale: number): Open {
  const power = 10 ** scale;
  const addOther = (value: bigint, out: TextBytes) => out.put(`"${placePoint(value, scale)}"`);
  const add = (value: number, out: TextBytes) => {
    const digits = Math.abs(value);
    const whole = Math.floor(digits / power);
    // Beyond, the quotient would not be exact.
    if (scale > 9 || digits > 0x7fffffffffff) return addOther(BigInt(value), out);
    out.put(value < 0 ? '"-' : '"');
    out.putInteger(whole);
    if (scale > 0) {
      out.put('.');
      out.putDigits(digits - whole * power, scale);
    }
    out.put('"');
  };
  if (width <= 4) return wholeNumbers(Int16Array, add);
  if (width <= 9) return wholeNumbers(Int32Array, add);
  return width <= 18 ? longNumbers(add, addOther) : hugeNumbers(addOther);
}

function placePoint(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The years 1 to 9999. Others, which have longer texts or none, and infinities are left to the engine. */
const days = { first: -719_162, last: 2_932_896 };

const openDays: Open = (column) => {
  const values = view(Int32Array, column);
  return (row, out) => {
    const day = values[row] as number;
    if (day < days.first || day > days.last) return false;
    out.put('"');
    out.putDay(day);
    out.put('"');
    return true;
  };
};

const secondsOfDay = 86_400;

const moments =
  (end: string): Open =>
  (column) => {
    const halves = view(Int32Array, column, 2);
    return (row, out) => {
      // Microseconds of these years can be more than JavaScript holds exactly; seconds and what is left of them are not.
      const high = halves[2 * row + 1] as number;
      const low = (halves[2 * row] as number) >>> 0;
      const [seconds, micros] = splitSeconds(high, low);
      const day = Math.floor(seconds / secondsOfDay);
      if (day < days.first || day > days.last) return false;
      out.put('"');
      out.putDay(day);
      out.put('T');
      out.putTime(seconds - day * secondsOfDay);
      if (micros > 0) {
        out.put('.');
        out.putDigits(micros, 6);
      }
      out.put(end);
      return true;
    };
  };

const million = 1_000_000;

/** high × 2^32 + low microseconds as whole seconds and the microseconds after them. */
function splitSeconds(high: number, low: number): [seconds: number, micros: number] {
  // 2^32 microseconds are 4,294 seconds and 967,296 microseconds.
  const micros = high * 967_296 + low;
  const seconds = Math.floor(micros / million);
  return [high * 4_294 + seconds, micros - seconds * million];
}
