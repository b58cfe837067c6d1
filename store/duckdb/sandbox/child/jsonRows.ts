import { type DuckDBDataChunk, type DuckDBType, type DuckDBVector, DuckDBTypeId as Id } from '@duckdb/node-api';
import { pageSeparator } from '../protocol.ts';

/**
 * Writes rows as JSON from the engine's chunks, by the rules of store/duckdb/json.ts, for types whose JSON can be cast back
 * without loss: the text is what is kept of the result.
 */
export interface JsonRows {
  /** False: something cannot be written so, or the text would be longer than wanted. Nothing was added then. */
  add(chunk: DuckDBDataChunk): boolean;
  /** The rows so far. */
  text(): string;
}

/** Null: the columns have types that are not written here. */
export function openJsonRows(names: string[], types: DuckDBType[], mostBytes: number): JsonRows | null {
  const writers: Write[] = [];
  for (const type of types) {
    const write = writerOf(type);
    if (!write) return null;
    writers.push(write);
  }
  const keys = names.map((name, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const pieces: string[] = [];
  // A character of text is at most three bytes of UTF-8.
  let length = 0;
  return {
    add(chunk) {
      const texts: string[][] = [];
      for (const [i, write] of writers.entries()) {
        const column = writeColumn(write, chunk.getColumnVector(i), chunk.rowCount);
        if (!column) return false;
        texts.push(column);
      }
      let rows = '';
      for (let row = 0; row < chunk.rowCount; row += 1) {
        if (rows !== '') rows += pageSeparator;
        for (let i = 0; i < keys.length; i += 1) rows += (keys[i] as string) + (texts[i]?.[row] as string);
        rows += '}';
      }
      if (rows === '') return true;
      length += rows.length + pageSeparator.length;
      if (length > mostBytes || Buffer.byteLength(rows) > mostBytes) return false;
      pieces.push(rows);
      return true;
    },
    text: () => pieces.join(pageSeparator),
  };
}

/** The text of a value that is not null. Undefined: it cannot be written. */
type Write = (value: never) => string | undefined;

function writeColumn(write: Write, vector: DuckDBVector, rows: number): string[] | null {
  const texts = new Array<string>(rows);
  for (let row = 0; row < rows; row += 1) {
    const value = vector.getItem(row);
    const text = value === null ? 'null' : write(value as never);
    if (text === undefined) return null;
    texts[row] = text;
  }
  return texts;
}

function writerOf(type: DuckDBType): Write | null {
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
      return type.alias === 'JSON' ? null : writeText;
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

/** Texts with U+0000 are left to the engine. */
function writeText(value: string): string | undefined {
  return value.includes('\0') ? undefined : JSON.stringify(value);
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
