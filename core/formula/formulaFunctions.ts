/**
 * The functions of formulas. Those that see blanks, ranges or dates in a sheet's own way are here; the others come from a library
 * of them, which takes and gives plain values.
 */

import * as library from '@formulajs/formulajs';
import { formatNumber } from '../grid/format/formatCell.ts';
import {
  asNumber,
  asScalar,
  asText,
  asTruth,
  FormulaError,
  type FormulaValue,
  isArray,
  listNumbers,
  momentOfSerial,
  type Scalar,
  serialOfMoment,
  Uncomputable,
} from './formulaValues.ts';

/** Their result depends on when or where they are computed. */
const VOLATILE = new Set(['TODAY', 'NOW', 'RAND', 'RANDBETWEEN', 'RANDARRAY', 'OFFSET', 'INDIRECT', 'CELL', 'INFO']);

type Plain = (args: FormulaValue[]) => FormulaValue;

const mean = (numbers: number[]): number => {
  if (numbers.length === 0) throw new FormulaError('#DIV/0!');
  return sum(numbers) / numbers.length;
};
const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);
const dayOf = (value: FormulaValue): Date => new Date(momentOfSerial(asNumber(value)));
const serialOf = (year: number, month: number, day: number): number => serialOfMoment(Date.UTC(year, month - 1, day));
const countValues = (args: FormulaValue[]): number => args.flat(2).filter((value) => value !== null).length;

/** Half away from zero, on the decimal digits that a sheet shows: 1.005 to two places is 1.01. */
function roundTo(value: number, places: number): number {
  const scaled = Number(`${Math.abs(value).toPrecision(15)}e${Math.trunc(places)}`);
  if (!Number.isFinite(scaled)) return value;
  return Math.sign(value) * Number(`${Math.round(scaled)}e${-Math.trunc(places)}`);
}

/** The same day some months on, or the last one of a shorter month. */
function addMonths(value: FormulaValue, months: FormulaValue, toEnd: boolean): number {
  const from = dayOf(value);
  const month = from.getUTCMonth() + Math.trunc(asNumber(months));
  const last = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return serialOf(from.getUTCFullYear(), month + 1, toEnd ? last : Math.min(from.getUTCDate(), last));
}

/** SUBTOTAL by its number; totals inside the range are the caller's concern. */
function subtotal([kind = null, ...ranges]: FormulaValue[]): FormulaValue {
  const name = ['AVERAGE', 'COUNT', 'COUNTA', 'MAX', 'MIN', 'PRODUCT', '', '', 'SUM'][(asNumber(kind) % 100) - 1];
  const own = name ? OWN[name] : undefined;
  if (!own) throw new Uncomputable('SUBTOTAL of this kind');
  return own(ranges);
}

const OWN: Record<string, Plain> = {
  SUM: (args) => sum(listNumbers(args)),
  AVERAGE: (args) => mean(listNumbers(args)),
  MIN: (args) => Math.min(...spread(listNumbers(args))),
  MAX: (args) => Math.max(...spread(listNumbers(args))),
  PRODUCT: (args) => listNumbers(args).reduce((a, b) => a * b, 1),
  COUNT: (args) => args.flat(2).filter((value) => typeof value === 'number').length,
  COUNTA: (args) => countValues(args),
  COUNTBLANK: (args) => args.flat(2).filter((value) => value === null || value === '').length,
  SUBTOTAL: subtotal,
  ROUND: ([value = null, places = null]) => roundTo(asNumber(value), asNumber(places)),
  NOT: ([value = null]) => !asTruth(value),
  AND: (args) => listTruths(args).every(Boolean),
  OR: (args) => listTruths(args).some(Boolean),
  NA: () => new FormulaError('#N/A'),
  TRUE: () => true,
  FALSE: () => false,
  DATE: ([year = null, month = null, day = null]) => serialOf(asNumber(year), asNumber(month), asNumber(day)),
  YEAR: ([value = null]) => dayOf(value).getUTCFullYear(),
  MONTH: ([value = null]) => dayOf(value).getUTCMonth() + 1,
  DAY: ([value = null]) => dayOf(value).getUTCDate(),
  HOUR: ([value = null]) => dayOf(value).getUTCHours(),
  MINUTE: ([value = null]) => dayOf(value).getUTCMinutes(),
  TIME: ([hours = null, minutes = null, seconds = null]) => (asNumber(hours) * 3600 + asNumber(minutes) * 60 + asNumber(seconds)) / 86_400,
  EDATE: ([value = null, months = null]) => addMonths(value, months, false),
  EOMONTH: ([value = null, months = null]) => addMonths(value, months, true),
  DAYS: ([end = null, start = null]) => asNumber(end) - asNumber(start),
  WEEKDAY: ([value = null, kind = 1]) => {
    const day = dayOf(value).getUTCDay();
    const first = asNumber(kind);
    if (first === 1) return day + 1;
    if (first === 2) return day === 0 ? 7 : day;
    if (first === 3) return (day + 6) % 7;
    throw new Uncomputable('WEEKDAY of this kind');
  },
  TEXT: ([value = null, format = null]) => {
    const one = asScalar(value);
    return typeof one === 'number' ? formatNumber(one, asText(format)) : asText(one);
  },
  CONCATENATE: (args) => args.map(asText).join(''),
  CONCAT: (args) =>
    args
      .flatMap((arg) => (isArray(arg) ? arg.flat() : [arg]))
      .map(asText)
      .join(''),
  ISBLANK: ([value = null]) => asScalar(value) === null,
  ISNUMBER: ([value = null]) => typeof asScalar(value) === 'number',
  ISTEXT: ([value = null]) => typeof asScalar(value) === 'string',
  N: ([value = null]) => {
    const one = asScalar(value);
    return typeof one === 'number' ? one : one === true ? 1 : 0;
  },
};

/** Math.min and Math.max take their numbers as arguments, of which there may not be too many. */
function spread(numbers: number[]): number[] {
  if (numbers.length === 0) return [0];
  if (numbers.length > 50_000) throw new Uncomputable('more numbers than are compared at once');
  return numbers;
}

function listTruths(args: FormulaValue[]): boolean[] {
  return args.flatMap((arg) => {
    if (!isArray(arg)) return [asTruth(arg)];
    return arg.flat().flatMap((value) => {
      if (value instanceof FormulaError) throw value;
      return typeof value === 'boolean' || typeof value === 'number' ? [Boolean(value)] : [];
    });
  });
}

/** Functions that must not be handed over: they look at the clock, or work on what is no value. */
const NOT_FROM_LIBRARY = new Set(['default', 'DATEVALUE', 'TIMEVALUE', 'DATEDIF', 'NETWORKDAYS', 'WORKDAY', 'CHOOSECOLS']);

/** Old names of functions, which the library takes for others: their present names, and what they take for granted. */
const OLD_NAMES: Record<string, [name: string, ...more: boolean[]]> = {
  FDIST: ['F.DIST.RT'],
  FINV: ['F.INV.RT'],
  TINV: ['T.INV.2T'],
  CHIDIST: ['CHISQ.DIST.RT'],
  CHIINV: ['CHISQ.INV.RT'],
  NORMSDIST: ['NORM.S.DIST', true],
  LOGNORMDIST: ['LOGNORM.DIST', true],
};

export function callFunction(name: string, args: FormulaValue[]): FormulaValue {
  if (VOLATILE.has(name)) throw new Uncomputable(`${name}, whose result changes`);
  const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
  if (own) return own(args);
  const old = Object.hasOwn(OLD_NAMES, name) ? OLD_NAMES[name] : undefined;
  if (old) return callFunction(old[0], [...args, ...(old.slice(1) as boolean[])]);
  let called: unknown = NOT_FROM_LIBRARY.has(name) ? undefined : library;
  for (const part of name.split('.')) called = (called as Record<string, unknown> | undefined)?.[part];
  if (typeof called !== 'function') throw new Uncomputable(`the function ${name}`);
  for (const arg of args) if (arg instanceof FormulaError) throw arg;
  return fromLibrary((called as (...values: unknown[]) => unknown)(...args.map(toLibrary)), name);
}

/** One row or column as a list, which is what most functions of the library expect. */
function toLibrary(value: FormulaValue): unknown {
  if (!isArray(value)) return value;
  const plain = value.map((row) =>
    row.map((each) => {
      if (each instanceof FormulaError) throw each;
      return each;
    }),
  );
  return plain;
}

function fromLibrary(result: unknown, name: string): FormulaValue {
  if (result instanceof Error) throw new FormulaError(/^#/.test(result.message) ? result.message : '#VALUE!');
  if (typeof result === 'number') {
    if (!Number.isFinite(result)) throw new FormulaError('#NUM!');
    return result;
  }
  if (typeof result === 'string' || typeof result === 'boolean' || result === null) return result as Scalar;
  if (result === undefined) return null;
  throw new Uncomputable(`the result of ${name}`);
}
