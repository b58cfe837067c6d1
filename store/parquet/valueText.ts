import type { SchemaElement } from 'hyparquet';

/** What this reader does not know how to read; an engine does. */
export class Unreadable extends Error {}

/** The text of a stored value, as the engine writes it. */
export type TextOf = (bytes: Buffer) => string;

/** How to write down the values of a column. */
export function textOf(column: SchemaElement): TextOf {
  switch (`${column.type} ${column.converted_type ?? ''}`) {
    case 'BYTE_ARRAY UTF8':
    case 'BYTE_ARRAY JSON':
      return (bytes) => bytes.toString('utf8');
    case 'INT64 ':
    case 'INT64 INT_64':
      return (bytes) => String(bytes.readBigInt64LE());
    case 'INT32 ':
    case 'INT32 INT_32':
      return (bytes) => String(bytes.readInt32LE());
    case 'DOUBLE ':
      return (bytes) => doubleText(bytes.readDoubleLE());
    case 'BOOLEAN ':
      return (bytes) => (bytes[0] === 1 ? 'true' : 'false');
    case 'INT32 DATE':
      return (bytes) => dateText(bytes.readInt32LE() * msPerDay);
    case 'INT64 TIME_MICROS':
      return (bytes) => timeText(bytes.readBigInt64LE());
    case 'INT64 TIMESTAMP_MICROS':
      return (bytes) => timestampText(bytes.readBigInt64LE());
    case 'INT32 DECIMAL':
      return (bytes) => decimalText(BigInt(bytes.readInt32LE()), column.scale ?? 0);
    case 'INT64 DECIMAL':
      return (bytes) => decimalText(bytes.readBigInt64LE(), column.scale ?? 0);
    case 'FIXED_LEN_BYTE_ARRAY DECIMAL':
      return (bytes) => decimalText(BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`)), column.scale ?? 0);
    default:
      throw new Unreadable(`${column.type} ${column.converted_type}`);
  }
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

/** Years of four digits; the others have spellings of their own. */
function dateText(ms: number): string {
  if (ms < firstMs || ms >= endMs) throw new Unreadable('a date far away');
  return new Date(ms).toISOString().slice(0, 10);
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
