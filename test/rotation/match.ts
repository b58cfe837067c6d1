/** Whether the tables found on a sheet are the ones that people see there: the same measure as that of ../shared/structuring/score.py. */

import { parseRange } from '../../core/a1/address.ts';
import type { Range } from '../../core/grid/grid.ts';

/** Rows or columns by which an edge may be off. */
const TOLERANCE = 2;

export interface Matched {
  found: number;
  wanted: number;
  given: number;
}

/** One table for one: the nearest first. Where not all tables of a sheet are labelled, tables away from the labelled ones do not count. */
export function matchTables(wanted: string[], given: string[], complete: boolean): Matched {
  const truths = wanted.flatMap((text) => parseRange(text) ?? []);
  const all = given.flatMap((text) => parseRange(text) ?? []);
  const own = complete ? all : all.filter((range) => truths.some((truth) => overlaps(truth, range)));
  const pairs = truths.flatMap((truth, t) => own.map((range, k) => ({ t, k, off: distance(truth, range) })));
  const [seen, taken] = [new Set<number>(), new Set<number>()];
  for (const { t, k, off } of pairs.sort((a, b) => a.off - b.off)) {
    if (off > TOLERANCE || seen.has(t) || taken.has(k)) continue;
    seen.add(t);
    taken.add(k);
  }
  return { found: seen.size, wanted: truths.length, given: own.length };
}

/** Half of what was found and of what is there agree. */
export function isMostlyRight({ found, wanted, given }: Matched): boolean {
  return found * 4 >= wanted + given;
}

export function scoreF1(sheets: Matched[]): number {
  const sum = (pick: (sheet: Matched) => number) => sheets.reduce((total, sheet) => total + pick(sheet), 0);
  return (2 * sum(({ found }) => found)) / Math.max(1, sum(({ wanted }) => wanted) + sum(({ given }) => given));
}

function distance(a: Range, b: Range): number {
  return Math.max(Math.abs(a.top - b.top), Math.abs(a.left - b.left), Math.abs(a.bottom - b.bottom), Math.abs(a.right - b.right));
}

function overlaps(a: Range, b: Range): boolean {
  return a.top <= b.bottom && b.top <= a.bottom && a.left <= b.right && b.left <= a.right;
}
