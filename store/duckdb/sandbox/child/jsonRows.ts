import { type DuckDBDataChunk, type DuckDBType, type DuckDBVector, DuckDBTypeId as Id } from '@duckdb/node-api';
import { isValid } from '../../../../core/table/textBatch.ts';
import { copyText, type RawColumn, readColumn, sumText } from '../../formats/rawChunk.ts';
import { pageSeparator } from '../protocol.ts';

/**
 * Writes rows as JSON from the engine's chunks, by the rules of store/duckdb/json.ts, for types whose JSON can be cast back
 * without loss: the text is what is kept of the result. Texts go from the engine's memory to the answer as bytes.
 */
export interface JsonRows {
  /** False: something cannot be written so, or the text would be longer than wanted. Nothing was added then. */
  add(chunk: DuckDBDataChunk): boolean;
  /** The rows so far, as UTF-8. */
  bytes(): Buffer;
}

/** Null: the columns have types that are not written here. */
export function openJsonRows(names: string[], types: DuckDBType[], mostBytes: number): JsonRows | null {
  const writers: (Write | 'texts')[] = [];
  for (const type of types) {
    const write = writerOf(type);
    if (!write) return null;
    writers.push(write);
  }
  const keys = names.map((name, i) => Buffer.from(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`));
  const out = new Bytes();
  return {
    add(chunk) {
      const columns: WriteRow[] = [];
      for (const [i, write] of writers.entries()) {
        const column =
          write === 'texts' ? openTexts(readColumn(chunk, i), mostBytes) : openValues(write, chunk.getColumnVector(i), chunk.rowCount);
        if (!column) return false;
        columns.push(column);
      }
      const before = out.length;
      for (let row = 0; row < chunk.rowCount; row += 1) {
        if (out.length > 0) out.addAscii(pageSeparator);
        for (let i = 0; i < keys.length; i += 1) {
          out.add(keys[i] as Buffer);
          columns[i]?.(row, out);
        }
        out.addAscii('}');
        if (out.length > mostBytes) {
          out.length = before;
          return false;
        }
      }
      return true;
    },
    bytes: () => out.taken(),
  };
}

/** Bytes that become more. */
class Bytes {
  length = 0;
  private buffer = Buffer.allocUnsafe(65_536);

  add(bytes: Uint8Array, from = 0, to = bytes.length): void {
    const count = to - from;
    this.reserve(count);
    const { buffer, length } = this;
    // A call costs more than some bytes.
    if (count > 48) buffer.set(bytes.subarray(from, to), length);
    else for (let i = 0; i < count; i += 1) buffer[length + i] = bytes[from + i] as number;
    this.length = length + count;
  }

  addAscii(text: string): void {
    const count = text.length;
    this.reserve(count);
    const { buffer, length } = this;
    for (let i = 0; i < count; i += 1) buffer[length + i] = text.charCodeAt(i);
    this.length = length + count;
  }

  taken(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private reserve(count: number): void {
    if (this.length + count <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.length + count));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }
}

/** Adds the value of a row. */
type WriteRow = (row: number, out: Bytes) => void;

/** The text of a value that is not null, in ASCII. Undefined: it cannot be written. */
type Write = (value: never) => string | undefined;

function openValues(write: Write, vector: DuckDBVector, rows: number): WriteRow | null {
  const texts = new Array<string>(rows);
  for (let row = 0; row < rows; row += 1) {
    const value = vector.getItem(row);
    const text = value === null ? 'null' : write(value as never);
    if (text === undefined) return null;
    texts[row] = text;
  }
  return (row, out) => out.addAscii(texts[row] as string);
}

const [quote, backslash, space] = [0x22, 0x5c, 0x20];

/** Null: they are longer than wanted, or one has U+0000, which is left to the engine. */
function openTexts(column: RawColumn, mostBytes: number): WriteRow | null {
  const { validity } = column;
  if (sumText(column) > mostBytes) return null;
  const { bytes, offsets } = copyText(column);
  if (bytes.includes(0)) return null;
  const mark = Buffer.from('"');
  return (row, out) => {
    if (!isValid(validity, row)) return out.addAscii('null');
    const [from, to] = [offsets[row] as number, offsets[row + 1] as number];
    for (let i = from; i < to; i += 1) {
      const byte = bytes[i] as number;
      if (byte < space || byte === quote || byte === backslash)
        return out.add(Buffer.from(JSON.stringify(bytes.toString('utf8', from, to))));
    }
    out.add(mark);
    out.add(bytes, from, to);
    out.add(mark);
  };
}

function writerOf(type: DuckDBType): Write | 'texts' | null {
  switch (type.typeId) {
    case Id.BOOLEAN:
    case Id.TINYINT:
    case Id.SMALLINT:
    case Id.INTEGER:
    case Id.UTINYINT:
    case Id.USMALLINT:
    case Id.UINTEGER:
      return String;
    case Id.BIGINT:
    case Id.UBIGINT:
    case Id.HUGEINT:
      return writeWhole;
    case Id.DOUBLE:
      return writeDouble;
    case Id.VARCHAR:
      return type.alias === 'JSON' ? null : 'texts';
    case Id.DECIMAL:
      return (value: { value: bigint }) => writeDecimal(value.value, type.scale);
    case Id.DATE:
      return (value: { days: number }) => writeDay(value.days);
    case Id.TIMESTAMP:
      return (value: { micros: bigint }) => writeMoment(value.micros, '');
    case Id.TIMESTAMP_TZ:
      return (value: { micros: bigint }) => writeMoment(value.micros, 'Z');
    default:
      return null;
  }
}

const largestExact = BigInt(Number.MAX_SAFE_INTEGER);

const writeWhole = (value: bigint) => (value >= -largestExact && value <= largestExact ? String(value) : `"${value}"`);

/** NaN and infinities are null in JSON, so what is kept would not have them. */
function writeDouble(value: number): string | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function writeDecimal(value: bigint, scale: number): string {
  if (scale === 0) return `"${value}"`;
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  return `"${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}"`;
}

const dayMs = 86_400_000;
/** The years 1 to 9999, which JavaScript writes as the engine does. Others, and infinities, are left to the engine. */
const days = { first: -719_162, last: 2_932_896 };

function writeDay(day: number): string | undefined {
  if (day < days.first || day > days.last) return undefined;
  return `"${new Date(day * dayMs).toISOString().slice(0, 10)}"`;
}

const micros = { first: BigInt(days.first) * 86_400_000_000n, last: BigInt(days.last + 1) * 86_400_000_000n };

function writeMoment(value: bigint, zone: string): string | undefined {
  if (value < micros.first || value >= micros.last) return undefined;
  const fraction = Number(((value % 1_000_000n) + 1_000_000n) % 1_000_000n);
  const seconds = Number((value - BigInt(fraction)) / 1_000_000n);
  const text = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return fraction === 0 ? `"${text}${zone}"` : `"${text}.${String(fraction).padStart(6, '0')}${zone}"`;
}
