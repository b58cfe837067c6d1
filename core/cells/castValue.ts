import type { ColumnType } from './columnTypes.ts';
import { LongNumber } from './givenRow.ts';
import { sureDigits } from './jsonReader.ts';

/**
 * A value from a request as canonical text: the form in which cells are stored and which the engine reads. Either every
 * digit that came in is kept, or the value is refused.
 */
export type Cast = string | null | Refusal;

/** Why a value does not fit. Values that fit are plain strings, without a wrapping object, because there are millions of them. */
export class Refusal {
  constructor(readonly why: string) {}
}

const refuse = (why: string) => new Refusal(why);
const tooLong = refuse('has more digits than a JSON number can keep; send it as a string');

export function castValue(type: ColumnType, value: unknown): Cast {
  if (value === null || value === undefined) return null;
  switch (type.kind) {
    case 'VARCHAR':
      return castText(value);
    case 'BIGINT':
      return castInteger(value);
    case 'DOUBLE':
      return castDouble(value);
    case 'DECIMAL':
      return castDecimal(value, type.precision, type.scale);
    case 'BOOLEAN':
      return castBoolean(value);
    case 'DATE':
      return castDate(value);
    case 'TIMESTAMP':
      return castTimestamp(value);
    case 'TIME':
      return castTime(value);
    case 'JSON':
      return castJson(value);
  }
}

function castText(value: unknown): Cast {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return lostDigits(value) ?? String(value);
  if (value instanceof LongNumber) return tooLong;
  return typeof value === 'boolean' ? String(value) : refuse('must be text');
}

function castJson(value: unknown): Cast {
  return findUnsound(value) ?? JSON.stringify(value);
}

/** The first part of a JSON value that cannot be stored exactly: a rounded number, U+0000 or half a surrogate pair. */
function findUnsound(value: unknown): Refusal | null {
  if (typeof value === 'number') return lostDigits(value);
  if (value instanceof LongNumber) return tooLong;
  if (typeof value === 'string')
    return value.isWellFormed() && !value.includes('\u0000') ? null : refuse('contains U+0000 or a lone surrogate');
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const unsound = findUnsound(key) ?? findUnsound(item);
    if (unsound) return unsound;
  }
  return null;
}

/**
 * Refuses a JSON number that was visibly rounded when it was parsed: a whole number beyond 2^53 with more digits than a double
 * can keep, or one beyond the largest double.
 */
function lostDigits(value: number): Refusal | null {
  if (!Number.isFinite(value)) return refuse('is beyond what a JSON number can keep; send it as a string');
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return null;
  const [digits = ''] = value.toExponential().split('e');
  return digits.replace(/[-.]/g, '').length > sureDigits
    ? refuse('is beyond 2^53 as a JSON number and may have lost digits; send it as a string')
    : null;
}

const bigintMin = -(2n ** 63n);
const bigintMax = 2n ** 63n - 1n;

function castInteger(value: unknown): Cast {
  if (value instanceof LongNumber) return tooLong;
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return refuse('must be a whole number');
    return Number.isSafeInteger(value)
      ? String(value === 0 ? 0 : value)
      : refuse('is beyond 2^53 as a JSON number and may have lost digits; send it as a string');
  }
  if (typeof value !== 'string' || !/^\s*[+-]?\d{1,19}\s*$/.test(value)) return refuse('must be a whole number');
  const number = BigInt(value.trim().replace(/^\+/, ''));
  return number >= bigintMin && number <= bigintMax ? number.toString() : refuse('is outside the range of BIGINT');
}

function castDouble(given: unknown): Cast {
  const value = given instanceof LongNumber ? given.text : given;
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(value)
        ? Number(value)
        : Number.NaN;
  return Number.isFinite(number) ? String(number) : refuse('must be a number');
}

/** The fast path: most decimals arrive in the form in which they are stored. */
const plainDecimal = /^(?:0|[1-9]\d*)(?:\.(\d+))?$/;

function castDecimal(value: unknown, precision: number, scale: number): Cast {
  if (typeof value === 'string' && value.length <= precision - scale) {
    const plain = plainDecimal.exec(value);
    if (plain && (plain[1]?.length ?? 0) === scale) return value;
  }
  let text: string;
  if (typeof value === 'number') {
    // With more digits than a double can keep, the number may have been rounded before it got here.
    text = String(value);
    if (/e/i.test(text)) text = expandExponent(text);
    if (text.replace(/^-|\.|^0+/g, '').replace(/^0+/, '').length > sureDigits) return tooLong;
  } else if (typeof value === 'string') text = value.trim();
  else if (value instanceof LongNumber) return tooLong;
  else return refuse('must be a decimal number');
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  if (!match || (match[2] === '' && !match[3])) return refuse('must be a decimal number');
  const whole = (match[2] ?? '').replace(/^0+/, '');
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  if (fraction.length > scale) return refuse(`has more than ${scale} digits after the point`);
  if (whole.length > precision - scale) return refuse(`has more than ${precision - scale} digits before the point`);
  const digits = `${whole || '0'}${scale > 0 ? `.${fraction.padEnd(scale, '0')}` : ''}`;
  return match[1] === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

function expandExponent(text: string): string {
  const [mantissa, exponent] = text.toLowerCase().split('e') as [string, string];
  const [whole, fraction = ''] = mantissa.replace('-', '').split('.') as [string, string?];
  const shift = Number(exponent);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : point >= digits.length
        ? digits + '0'.repeat(point - digits.length)
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return mantissa.startsWith('-') ? `-${padded}` : padded;
}

function castBoolean(value: unknown): Cast {
  if (typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value === 1 ? 'true' : value === 0 ? 'false' : '';
  return text === 'true' || text === 'false' ? text : refuse('must be true or false');
}

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const timePattern = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?$/;

function castDate(value: unknown): Cast {
  // Spreadsheets and clients often send a date as midnight of that day.
  const text = typeof value === 'string' ? value.trim().replace(/[T ]00:00(:00(\.0+)?)?Z?$/, '') : '';
  return isRealDate(text) ? text : refuse('must be a date such as 2024-04-01');
}

function castTime(value: unknown): Cast {
  const time = typeof value === 'string' ? readTime(value.trim()) : null;
  return time === null ? refuse('must be a time such as 09:30:00') : time;
}

const noTimestamp = refuse('must be a date and time such as 2024-04-01T09:30:00');

function castTimestamp(value: unknown): Cast {
  if (typeof value !== 'string') return noTimestamp;
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(value.trim());
  if (!match || !isRealDate(match[1] as string)) return noTimestamp;
  const time = readTime(match[2] ?? '00:00:00');
  if (time === null) return noTimestamp;
  if (!match[3] || match[3] === 'Z') return `${match[1]} ${time}`;
  // Times with an offset are stored as the same instant in UTC.
  const sign = match[3].startsWith('-') ? 1 : -1;
  const [hours, minutes] = [Number(match[3].slice(1, 3)), Number(match[3].slice(-2))];
  if (hours > 23 || minutes > 59) return noTimestamp;
  const instant = new Date(Date.parse(`${match[1]}T${time.slice(0, 8)}Z`) + sign * (hours * 60 + minutes) * 60_000);
  const year = instant.getUTCFullYear();
  if (year < 1 || year > 9999) return refuse('is outside the years 1 to 9999 in UTC');
  return `${instant.toISOString().slice(0, 19).replace('T', ' ')}${time.slice(8)}`;
}

function isRealDate(text: string): boolean {
  const match = datePattern.exec(text);
  if (!match) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function readTime(text: string): string | null {
  const match = timePattern.exec(text);
  if (!match || Number(match[1]) > 23 || Number(match[2]) > 59 || Number(match[3] ?? 0) > 59) return null;
  const fraction = (match[4] ?? '').replace(/0+$/, '');
  return `${match[1]}:${match[2]}:${match[3] ?? '00'}${fraction ? `.${fraction}` : ''}`;
}

/** Whether two canonical texts are the same value. They can differ in spelling: one double has several texts. */
export function sameValue(type: ColumnType, a: string | null, b: string | null): boolean {
  if (a === b || a === null || b === null) return a === b;
  return type.kind === 'DOUBLE' ? Number(a) === Number(b) : false;
}
