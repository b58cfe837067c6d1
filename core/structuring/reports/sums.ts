/** Arithmetic between the rows of a table: what formulas say, and what the numbers bear out. */

import { parseColumn } from '../../a1/address.ts';
import { openSumBudget, type SumBudget } from '../sheet/sumBudget.ts';
import { SUM_TOLERANCE } from '../thresholds.ts';

/** Rows that make up another row, each with its sign. */
export interface Term {
  row: number;
  sign: 1 | -1;
}

const TERM = /^\s*([+-]?)\s*(?:(SUM|SUBTOTAL)\(([^()]*)\)|\$?([A-Z]{1,3})\$?(\d{1,7}))/i;

/**
 * The rows a formula adds and subtracts, when it does nothing else and stays in its own column:
 * `SUM(B5:B7)`, `B4-B8`, `+B5+B6-SUM(B7:B9)`. Null for anything else, and for what the budget does not allow.
 */
export function readSumFormula(formula: string, column: number, budget: SumBudget = openSumBudget()): Term[] | null {
  let rest = formula.replace(/^=/, '').trim();
  const terms: Term[] = [];
  while (rest !== '') {
    const m = TERM.exec(rest);
    if (!m || (terms.length > 0 && m[1] === '')) return null;
    const sign = m[1] === '-' ? -1 : 1;
    if (m[2] === undefined) {
      if (parseColumn(m[4]!) !== column || budget.terms < 1) return null;
      budget.terms -= 1;
      terms.push({ row: Number(m[5]), sign });
    } else {
      const parts = m[3]!.split(',').map((part) => part.trim());
      if (/^subtotal$/i.test(m[2]) && !/^(?:9|109)$/.test(parts.shift() ?? '')) return null;
      for (const part of parts) {
        const rows = rowsOfReference(part, column, budget);
        if (!rows) return null;
        for (const row of rows) terms.push({ row, sign });
      }
    }
    rest = rest.slice(m[0].length).trim();
  }
  return terms.length > 0 ? terms : null;
}

/** A range over more rows than any sheet has says nothing about levels. */
const MAX_RANGE_ROWS = 200_000;

function rowsOfReference(text: string, column: number, budget: SumBudget): number[] | null {
  const m = /^\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?$/i.exec(text);
  if (!m || parseColumn(m[1]!) !== column || (m[3] && parseColumn(m[3]) !== column)) return null;
  const [from, to] = [Number(m[2]), Number(m[4] ?? m[2])];
  if (to < from || to - from > MAX_RANGE_ROWS || to - from >= budget.terms) return null;
  budget.terms -= to - from + 1;
  return Array.from({ length: to - from + 1 }, (_, k) => from + k);
}

/** Values of rows by value column; null where a cell holds no number. */
export type Matrix = (number | null)[][];

/** Equal within rounding: errors of half a unit in the last place add up as their root; a relative part for fractions. */
export function isSameSum(stated: number, computed: number, addends: number, unit: number): boolean {
  const tolerance = Math.max(Math.abs(stated), Math.abs(computed)) * SUM_TOLERANCE + unit * 0.5 * (Math.sqrt(addends) + 1) + 1e-9;
  return Math.abs(stated - computed) <= tolerance;
}

/** The step of the last shown digit: 1 for integers, 0.1 for one decimal. Capped, because long decimals are exact. */
export function unitOf(values: Iterable<number | null>): number {
  let decimals = 0;
  for (const value of values) {
    if (value === null || Number.isInteger(value)) continue;
    const text = String(Number(value.toPrecision(12)));
    const point = text.indexOf('.');
    if (point >= 0 && !text.includes('e')) decimals = Math.max(decimals, text.length - point - 1);
    if (decimals >= 4) return 0;
  }
  return decimals === 0 ? 1 : 10 ** -decimals;
}

/** `at` gives the matrix row of a term, for callers that count rows differently. */
export function sumTerms(matrix: Matrix, terms: Term[], column: number, at: (row: number) => number): { sum: number; count: number } {
  let sum = 0;
  let count = 0;
  for (const term of terms) {
    const value = matrix[at(term.row)]?.[column];
    if (value === null || value === undefined) continue;
    sum += term.sign * value;
    count += 1;
  }
  return { sum, count };
}

/** Digits of a number down to the unit of its column; long decimals agree in no more than these. */
const MAX_DIGITS = 6;

export function digitsOf(value: number, unit: number): number {
  return Math.min(MAX_DIGITS, Math.log10(Math.abs(value) / (unit === 0 ? 1e-4 : unit) + 1));
}

export interface SumCheck {
  /** Value columns where the row holds a number and at least one term does. */
  compared: number;
  holds: number;
  /** Columns that hold with more than a row of zeros. */
  weighty: number;
  /** How many digits agree, in all columns that hold: by chance one of ten to this power would. */
  digits: number;
}

export function checkSum(matrix: Matrix, units: number[], row: number, terms: Term[], at: (row: number) => number): SumCheck {
  const check: SumCheck = { compared: 0, holds: 0, weighty: 0, digits: 0 };
  const values = matrix[row]!;
  for (let c = 0; c < values.length; c += 1) {
    const stated = values[c];
    if (stated === null || stated === undefined) continue;
    const { sum, count } = sumTerms(matrix, terms, c, at);
    if (count === 0) continue;
    check.compared += 1;
    if (!isSameSum(stated, sum, count, units[c]!)) continue;
    check.holds += 1;
    if (stated === 0) continue;
    check.weighty += 1;
    check.digits += digitsOf(stated, units[c]!);
  }
  return check;
}
