import type { SchemaElement } from 'hyparquet';

/** Thrown for files that this reader cannot handle; the engine can. */
export class Unreadable extends Error {}

/** The canonical text of the value between two positions, exactly as the engine would cast it to text. */
export type DecodeText = (bytes: Buffer, from: number, to: number) => string;

/** The decoder for the values of a column. */
export function chooseTextDecoder(column: SchemaElement): DecodeText {
  switch (`${column.type} ${column.converted_type ?? ''}`) {
    case 'BYTE_ARRAY UTF8':
    case 'BYTE_ARRAY JSON':
      return (bytes, from, to) => bytes.toString('utf8', from, to);
    case 'INT64 ':
    case 'INT64 INT_64':
      return int64Text;
    case 'INT32 ':
    case 'INT32 INT_32':
      return (bytes, from) => String(bytes.readInt32LE(from));
    case 'DOUBLE ':
      return (bytes, from) => doubleText(bytes.readDoubleLE(from));
    case 'BOOLEAN ':
      return (bytes, from) => (bytes[from] === 1 ? 'true' : 'false');
    case 'INT32 DATE':
      return (bytes, from) => dateText(bytes.readInt32LE(from) * msPerDay);
    case 'INT64 TIME_MICROS':
      return (bytes, from) => timeText(bytes.readBigInt64LE(from));
    case 'INT64 TIMESTAMP_MICROS':
      return (bytes, from) => timestampText(bytes.readBigInt64LE(from));
    case 'INT32 DECIMAL':
      return (bytes, from) => decimalText(BigInt(bytes.readInt32LE(from)), column.scale ?? 0);
    case 'INT64 DECIMAL':
      return (bytes, from) => decimalText(bytes.readBigInt64LE(from), column.scale ?? 0);
    case 'FIXED_LEN_BYTE_ARRAY DECIMAL':
      return (bytes, from, to) =>
        decimalText(BigInt.asIntN((to - from) * 8, BigInt(`0x${bytes.toString('hex', from, to)}`)), column.scale ?? 0);
    default:
      throw new Unreadable(`${column.type} ${column.converted_type}`);
  }
}

/** Safe integers avoid BigInt, which is ten times slower. */
function int64Text(bytes: Buffer, from: number): string {
  const number = bytes.readInt32LE(from + 4) * 2 ** 32 + bytes.readUInt32LE(from);
  return Number.isSafeInteger(number) ? String(number) : String(bytes.readBigInt64LE(from));
}

function doubleText(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0.0' : String(value);
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`;
}

const msPerDay = 86_400_000;
const microsPerDay = 86_400_000_000n;
const firstMs = Date.UTC(2000, 0, 1) - 730_119 * msPerDay; // 0001-01-01
const endMs = Date.UTC(10_000, 0, 1);

/** A cache: columns hold few distinct days, and formatting one is slow. */
const knownDates = new Map<number, string>();
const mostDates = 10_000;

/** Only years 1 to 9999; the engine writes other years in a different form. */
function dateText(ms: number): string {
  const known = knownDates.get(ms);
  if (known !== undefined) return known;
  if (ms < firstMs || ms >= endMs) throw new Unreadable('a date far away');
  const text = new Date(ms).toISOString().slice(0, 10);
  if (knownDates.size < mostDates) knownDates.set(ms, text);
  return text;
}

function timestampText(micros: bigint): string {
  const inDay = ((micros % microsPerDay) + microsPerDay) % microsPerDay;
  return `${dateText(Number((micros - inDay) / 1000n))} ${timeText(inDay)}`;
}

function timeText(micros: bigint): string {
  const all = Number(micros);
  const pad = (value: number, length: number) => String(value).padStart(length, '0');
  const seconds = Math.floor(all / 1_000_000);
  const fraction = pad(all % 1_000_000, 6).replace(/0+$/, '');
  const clock = `${pad(Math.floor(seconds / 3600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`;
  return fraction === '' ? clock : `${clock}.${fraction}`;
}
