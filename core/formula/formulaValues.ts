/** Values while a formula is computed, and how a sheet turns one kind into another. */

/** `#DIV/0!` and its like: values that spread through every formula which uses them. */
export class FormulaError extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** What cannot be computed here, and why; it is no value of the sheet. */
export class Uncomputable extends Error {}

export type Scalar = number | string | boolean | null;

/** A range or an array is rows of scalars. */
export type FormulaValue = Scalar | FormulaError | (Scalar | FormulaError)[][];

export const isArray = (value: FormulaValue): value is (Scalar | FormulaError)[][] => Array.isArray(value);

/** A single value, as a formula of one cell sees it. */
export function asScalar(value: FormulaValue): Scalar {
  const one = isArray(value) ? value[0]?.[0] : value;
  if (one instanceof FormulaError) throw one;
  if (isArray(value) && (value.length > 1 || (value[0]?.length ?? 0) > 1)) throw new Uncomputable('a range where one value is wanted');
  return one ?? null;
}

export function asNumber(value: FormulaValue): number {
  const one = asScalar(value);
  if (one === null || one === '') {
    if (one === '') throw new FormulaError('#VALUE!');
    return 0;
  }
  if (typeof one === 'boolean') return one ? 1 : 0;
  if (typeof one === 'number') return one;
  const number = Number(one.replaceAll(',', ''));
  if (!Number.isFinite(number)) throw new FormulaError('#VALUE!');
  return number;
}

export function asText(value: FormulaValue): string {
  const one = asScalar(value);
  if (one === null) return '';
  if (typeof one === 'boolean') return one ? 'TRUE' : 'FALSE';
  return typeof one === 'number' ? String(Number(one.toPrecision(15))) : one;
}

export function asTruth(value: FormulaValue): boolean {
  const one = asScalar(value);
  if (typeof one === 'string') {
    if (/^true$/i.test(one)) return true;
    if (/^false$/i.test(one)) return false;
    throw new FormulaError('#VALUE!');
  }
  return typeof one === 'boolean' ? one : (one ?? 0) !== 0;
}

/** The numbers that SUM and its like see: those of ranges as they are, of single values what can be read as one. */
export function listNumbers(args: FormulaValue[]): number[] {
  const numbers: number[] = [];
  for (const arg of args) {
    if (!isArray(arg)) {
      if (arg !== null) numbers.push(asNumber(arg));
      continue;
    }
    for (const row of arg)
      for (const value of row) {
        if (value instanceof FormulaError) throw value;
        if (typeof value === 'number') numbers.push(value);
      }
  }
  return numbers;
}

/** Numbers come before texts, texts before truth values; texts are compared in any case. */
export function compareScalars(a: Scalar, b: Scalar): number {
  const rank = (value: Scalar) => (typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2);
  const [x, y] = [fillBlank(a, b), fillBlank(b, a)];
  if (rank(x) !== rank(y)) return rank(x) - rank(y);
  const [p, q] = typeof x === 'string' ? [x.toLowerCase(), String(y).toLowerCase()] : [Number(x), Number(y)];
  return p < q ? -1 : p > q ? 1 : 0;
}

/** A blank is what the other side is: 0, an empty text or FALSE. */
function fillBlank(value: Scalar, other: Scalar): Scalar {
  if (value !== null) return value;
  return typeof other === 'string' ? '' : typeof other === 'boolean' ? false : 0;
}

const DAY_MS = 86_400_000;
/** Day 25,569 of a sheet is 1970-01-01. */
const EPOCH_DAY = 25_569;

/** Sheets count a 29 February 1900, number 60: days before it have a number less than the calendar says, and so have lengths of time. */
const FIRST_REGULAR_DAY = 61;

/** `isLength`: the format of the cell counts hours, minutes or seconds on. */
export function serialOfMoment(moment: number, isLength = false): number {
  const serial = moment / DAY_MS + EPOCH_DAY;
  return isLength || serial < FIRST_REGULAR_DAY ? serial - 1 : serial;
}

export function momentOfSerial(serial: number, isLength = false): number {
  const shift = isLength || serial < FIRST_REGULAR_DAY - 1 ? 1 : 0;
  return Math.round((serial + shift - EPOCH_DAY) * DAY_MS);
}
