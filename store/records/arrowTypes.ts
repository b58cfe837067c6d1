import { DataType, DateUnit, type Field, TimeUnit, type Vector } from 'apache-arrow';
import { refuseType } from './recordFile.ts';

/** The canonical text of the value at a position that is not null. */
export type ReadText = (vector: Vector, at: number) => string | null;

export interface ArrowColumn {
  type: string;
  read: ReadText;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Thrown for a value that the column's type cannot hold. */
export class ArrowFault extends Error {}

/** How a field becomes a column. Refuses types that tables do not have. */
export function describeField(field: Field): ArrowColumn {
  const column = describeType(field.type);
  if (column) return column;
  if (isNested(field.type)) {
    checkNested(field.name, field.type);
    return { type: 'JSON', read: writeJson };
  }
  throw refuseType(field.name, String(field.type));
}

function describeType(type: DataType): ArrowColumn | null {
  if (DataType.isDictionary(type)) {
    const inner = describeType(type.dictionary);
    return inner && { type: inner.type, read: (vector, at) => readDictionary(vector, at, inner.read) };
  }
  if (DataType.isNull(type)) return { type: 'VARCHAR', read: () => null };
  if (DataType.isBool(type)) return { type: 'BOOLEAN', read: (vector, at) => String(vector.get(at)) };
  if (DataType.isInt(type)) {
    const isLarge = !type.isSigned && type.bitWidth === 64;
    return { type: isLarge ? 'DECIMAL(20,0)' : 'BIGINT', read: (vector, at) => String(valueAt(vector, at)) };
  }
  if (DataType.isFloat(type)) return { type: 'DOUBLE', read: (vector, at) => writeDouble(vector.get(at) as number) };
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return { type: 'VARCHAR', read: readText };
  if (DataType.isUtf8View(type)) return { type: 'VARCHAR', read: (vector, at) => checkText(String(vector.get(at))) };
  if (DataType.isDecimal(type)) {
    const { precision, scale } = type;
    if (!(precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision)) return null;
    return { type: `DECIMAL(${precision},${scale})`, read: (vector, at) => writeDecimal(vector.get(at) as Uint32Array, precision, scale) };
  }
  if (DataType.isDate(type)) {
    const msEach = type.unit === DateUnit.DAY ? 86_400_000 : 1;
    return { type: 'DATE', read: (vector, at) => writeMoment(BigInt(valueAt(vector, at)) * BigInt(msEach) * 1000n).slice(0, 10) };
  }
  if (DataType.isTimestamp(type)) return { type: 'TIMESTAMP', read: (vector, at) => writeMoment(toMicros(valueAt(vector, at), type.unit)) };
  if (DataType.isTime(type))
    return { type: 'TIME', read: (vector, at) => writeMoment(checkDay(toMicros(valueAt(vector, at), type.unit))).slice(11) };
  return null;
}

function isNested(type: DataType): boolean {
  return DataType.isList(type) || DataType.isStruct(type) || DataType.isMap(type) || DataType.isFixedSizeList(type);
}

function checkNested(name: string, type: DataType): void {
  for (const child of type.children ?? []) {
    if (isNested(child.type)) checkNested(name, child.type);
    else if (!describeType(child.type)) throw refuseType(name, String(type));
  }
}

/** The stored number, without the conversion to a double that `get` does for times. */
function valueAt(vector: Vector, at: number): number | bigint {
  const value = (vector.data[0]?.values as ArrayLike<number | bigint> | undefined)?.[at];
  if (value === undefined) throw new RangeError('a value is missing');
  return value;
}

function readText(vector: Vector, at: number): string {
  const data = vector.data[0];
  const [offsets, bytes] = [data?.valueOffsets, data?.values as Uint8Array | undefined];
  const [start, end] = [Number(offsets?.[at]), Number(offsets?.[at + 1])];
  if (!bytes || !(start >= 0 && end >= start && end <= bytes.length)) throw new RangeError('a text lies outside of its buffer');
  return checkText(decodeText(bytes.subarray(start, end)));
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ArrowFault('is not valid UTF-8');
  }
}

function checkText(text: string): string {
  if (text.includes('\u0000')) throw new ArrowFault('contains U+0000, which text cannot hold');
  return text;
}

function readDictionary(vector: Vector, at: number, read: ReadText): string | null {
  const [data] = vector.data;
  const index = Number(valueAt(vector, at));
  const { dictionary } = data ?? {};
  if (!dictionary || !(index >= 0 && index < dictionary.length)) throw new RangeError('an index leads outside of its dictionary');
  let before = index;
  // A dictionary that grew from batch to batch has several parts.
  for (const part of dictionary.data) {
    if (before < part.length)
      return part.getValid(before) ? read({ data: [part], get: () => dictionary.get(index) } as never, before) : null;
    before -= part.length;
  }
  throw new RangeError('an index leads outside of its dictionary');
}

/** NaN stands for a missing value, as in data frames. */
function writeDouble(value: number): string | null {
  if (Number.isNaN(value)) return null;
  return Number.isFinite(value) ? String(value) : value > 0 ? 'inf' : '-inf';
}

/** Little-endian words of a number in two's complement. */
function writeDecimal(words: Uint32Array, precision: number, scale: number): string {
  let value = 0n;
  for (let i = words.length - 1; i >= 0; i -= 1) value = (value << 32n) | BigInt(words[i] as number);
  value = BigInt.asIntN(words.length * 32, value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  if (digits.length > Math.max(precision, scale + 1)) throw new ArrowFault(`has more than ${precision} digits`);
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return value < 0n ? `-${text}` : text;
}

const microsEach: Record<number, bigint> = { [TimeUnit.SECOND]: 1_000_000n, [TimeUnit.MILLISECOND]: 1000n, [TimeUnit.MICROSECOND]: 1n };

function toMicros(value: number | bigint, unit: TimeUnit): bigint {
  const whole = BigInt(value);
  if (unit !== TimeUnit.NANOSECOND) return whole * (microsEach[unit] ?? 1n);
  if (whole % 1000n !== 0n) throw new ArrowFault('has nanoseconds, which columns do not hold; round it to microseconds');
  return whole / 1000n;
}

const microsPerDay = 86_400_000_000n;

function checkDay(micros: bigint): bigint {
  if (micros < 0n || micros >= microsPerDay) throw new ArrowFault('is not a time of day');
  return micros;
}

const [firstMicros, lastMicros] = [
  BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1000n,
  BigInt(Date.parse('9999-12-31T23:59:59.999Z')) * 1000n,
];

/** `2024-04-01 09:30:00.5`, in UTC. */
function writeMoment(micros: bigint): string {
  if (micros < firstMicros || micros > lastMicros + 999n) throw new ArrowFault('is outside of the years 1 to 9999');
  const rest = ((micros % 1000n) + 1000n) % 1000n;
  const text = new Date(Number((micros - rest) / 1000n)).toISOString();
  const fraction = `${text.slice(20, 23)}${String(rest).padStart(3, '0')}`.replace(/0+$/, '');
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction === '' ? '' : `.${fraction}`}`;
}

const unquoted = new Set(['BOOLEAN', 'BIGINT', 'DOUBLE', 'DECIMAL']);

/** A value as JSON, with everything nested in it. */
function writeJson(vector: Vector, at: number): string {
  if (!vector.isValid(at)) return 'null';
  const { type } = vector;
  if (DataType.isStruct(type)) {
    const parts = type.children.map((child, k) => `${JSON.stringify(checkText(child.name))}:${writeJson(requireChild(vector, k), at)}`);
    return `{${parts.join(',')}}`;
  }
  if (DataType.isMap(type)) {
    const entries = [...(vector.get(at) as Iterable<[unknown, unknown]>)];
    return JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [String(name), plainValue(value)])));
  }
  if (isNested(type)) {
    const items = vector.get(at) as Vector;
    return `[${Array.from({ length: items.length }, (_, i) => writeJson(part(items), i)).join(',')}]`;
  }
  const column = describeType(type);
  const text = column?.read(part(vector), at) ?? null;
  if (text === null) return 'null';
  if (text === 'inf' || text === '-inf') return 'null';
  return unquoted.has(column?.type.replace(/\(.*/, '') ?? '') ? text : JSON.stringify(text);
}

function part(vector: Vector): Vector {
  if (vector.data.length !== 1) throw new RangeError('a nested column in several parts');
  return vector;
}

function requireChild(vector: Vector, k: number): Vector {
  const child = vector.getChildAt(k);
  if (!child) throw new RangeError('a nested column lacks a part');
  return part(child);
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value;
}
