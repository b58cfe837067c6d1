/**
 * Finds lines of a block of numbers that are the sum of lines beside them, and where they are not. A line is a row or, with the
 * block turned, a column.
 */

import { isSlip } from './slips.ts';
import { countDecimals, magnitude } from './statistics.ts';

/** By line, then by position in the line; null where there is no number. */
export type Lines = (number | null)[][];

export interface FailedSum {
  at: number;
  stated: number;
  computed: number;
  /** It lies between its parts, as an average does. */
  isBetween: boolean;
  /** By so little that it comes from numbers that were rounded before they were added. */
  isSlight: boolean;
}

export interface SumRelation {
  /** The line that is a sum. */
  total: number;
  parts: number[];
  /** Positions where it is the sum of its parts. */
  holds: number[];
  /** Positions where it is not, although all its parts are there and no rounding explains it. */
  fails: FailedSum[];
  /** How many decimal digits agree that chance would have had to hit. */
  digits: number;
}

/** How far sums reach: over any number of lines where the name says "total", else over a few. */
const reach = { named: 400, unnamed: 60 };

/**
 * A guess hits a number of d digits once in 10^d tries, and a line is compared with up to `reach` sums before and behind it. With
 * four more digits than that, one relation in ten thousand is chance.
 */
const chanceDigits = { named: 4, unnamed: 7 };

/** Errors of rounding are spread evenly; in a sum of many, five standard deviations come once in a million. */
const rareRounding = 5;
/** A difference of less than one in ten thousand is slight. */
const slightShare = 1e-4;

/** What is known of lines and positions by their names. */
export interface Names {
  /** The name of the line says "total". */
  isTotal(line: number): boolean;
  /** Rates and averages stand in this place of a line: they need not add up. */
  isRate(line: number, at: number): boolean;
}

export function findSums(lines: Lines, names: Names): SumRelation[] {
  const decimals = lines.map((line) => line.map((value) => (value === null ? 0 : countDecimals(value))));
  const block = { lines, decimals, names };
  const found = new Map<number, SumRelation>();
  // Totals above their parts from the bottom up, totals below them from the top down: what has a total counts once, by its total.
  for (const direction of [1, -1] as const) {
    const covered = new Map<number, Set<number>>();
    const order = direction === 1 ? lines.map((_, k) => lines.length - 1 - k) : lines.map((_, k) => k);
    for (const line of order) {
      let relation = findSum(block, line, direction, covered);
      // Some totals count what has a total twice.
      if (!relation && covered.size > 0) relation = findSum(block, line, direction, new Map());
      if (!relation) continue;
      covered.set(line, new Set(relation.parts));
      const other = found.get(line);
      if (!other || weigh(other) < weigh(relation)) found.set(line, relation);
    }
  }
  return [...found.values()];
}

/** A number is one slip away from about thirty others for each of its digits. */
const slipsOfADigit = 30;

/** A total by its name that is the sum of nothing, but one digit away from the sum of the lines right beside it. */
export interface SlippedTotal {
  total: number;
  parts: number[];
  fail: FailedSum;
  /** How many totals of this kind chance would make. */
  chance: number;
}

export function findSlippedTotals(lines: Lines, names: Names, known: SumRelation[]): SlippedTotal[] {
  const related = new Set(known.map(({ total }) => total));
  const slipped: SlippedTotal[] = [];
  lines.forEach((own, total) => {
    if (!names.isTotal(total) || related.has(total)) return;
    for (const [at, stated] of own.entries()) {
      if (stated === null || names.isRate(total, at)) continue;
      const found = findSlip(lines, names, total, at, -1) ?? findSlip(lines, names, total, at, 1);
      if (found) slipped.push(found);
    }
  });
  return slipped;
}

function findSlip(lines: Lines, names: Names, total: number, at: number, direction: 1 | -1): SlippedTotal | null {
  const stated = lines[total]?.[at] as number;
  const parts: number[] = [];
  let sum = 0;
  for (let line = total + direction; line >= 0 && line < lines.length && parts.length < reach.named; line += direction) {
    const value = lines[line]?.[at] ?? null;
    if (value === null) continue;
    parts.push(line);
    sum += value;
    const computed = Number(sum.toPrecision(12));
    if (parts.length < 2 || !isSlip(stated, computed)) continue;
    const digits = magnitude(stated / (findRoundUnit(stated, computed) || 1)) + countDecimals(stated) + 1;
    // Up to the next total or the edge there is one sum to be made; of fewer lines there are many.
    const next = line + direction;
    const tries = lines[next] === undefined || names.isTotal(next) ? 1 : parts.length;
    const chance = (tries * slipsOfADigit * digits) / 10 ** digits;
    return { total, parts, fail: describeFail(at, stated, computed, false), chance };
  }
  return null;
}

function describeFail(at: number, stated: number, computed: number, isBetween: boolean): FailedSum {
  const difference = Math.abs(stated - computed);
  const isSlight = difference < Math.abs(stated) * slightShare || difference <= findRoundUnit(stated, computed);
  return { at, stated, computed, isBetween, isSlight };
}

/** The largest power of ten that all numbers are multiples of, if they were rounded to tens at least; else 0. */
function findRoundUnit(first: number, ...others: number[]): number {
  let unit = 1;
  while (unit < Math.abs(first) && [first, ...others].every((each) => each % (unit * 10) === 0)) unit *= 10;
  return unit > 1 ? unit : 0;
}

function weigh({ digits, fails }: SumRelation): number {
  return digits - 2 * fails.filter(({ isSlight }) => !isSlight).length;
}

/** Parts are rounded one by one, so the usual error of a sum grows as the root of their number. */
function isSame(stated: number, computed: number, parts: number, step: number): boolean {
  const tolerance = Math.max(Math.abs(stated), Math.abs(computed)) * 1e-9 + step * 0.5 * (Math.sqrt(parts) + 1) + 1e-9;
  return Math.abs(stated - computed) <= tolerance;
}

function roundingOf(decimals: number): number {
  return 0.5 * 10 ** -decimals;
}

interface Block {
  lines: Lines;
  /** How many decimal digits each number is written with. */
  decimals: number[][];
  names: Names;
}

/** `covered`: by line, the lines that it is the total of, which are left out where it is counted. */
function findSum(block: Block, total: number, direction: 1 | -1, covered: Map<number, Set<number>>): SumRelation | null {
  const { lines, names } = block;
  const isNamed = names.isTotal(total);
  const own = lines[total] as (number | null)[];
  const stated = own.flatMap((value, at) => (value === null ? [] : [at]));
  if (stated.length === 0 || stated.every((at) => own[at] === 0)) return null;
  const sums = own.map(() => 0);
  const missing = own.map(() => 0);
  const decimals = [...(block.decimals[total] as number[])];
  const rounding = decimals.map(roundingOf);
  const spread = rounding.map((each) => each ** 2);
  const least = own.map(() => Number.POSITIVE_INFINITY);
  const largest = own.map(() => Number.NEGATIVE_INFINITY);
  const skipped = new Set<number>();
  const parts: number[] = [];
  let best: SumRelation | null = null;
  const most = isNamed ? reach.named : reach.unnamed;
  for (let line = total + direction; line >= 0 && line < lines.length && parts.length < most; line += direction) {
    const values = lines[line] as (number | null)[];
    if (skipped.has(line) || values.every((value) => value === null)) continue;
    for (const part of covered.get(line) ?? []) skipped.add(part);
    parts.push(line);
    for (const at of stated) {
      const value = values[at];
      if (value === null || value === undefined) missing[at] = (missing[at] as number) + 1;
      else {
        sums[at] = (sums[at] as number) + value;
        const written = block.decimals[line]?.[at] as number;
        decimals[at] = Math.max(decimals[at] as number, written);
        rounding[at] = (rounding[at] as number) + roundingOf(written);
        spread[at] = (spread[at] as number) + roundingOf(written) ** 2;
        least[at] = Math.min(least[at] as number, value);
        largest[at] = Math.max(largest[at] as number, value);
      }
    }
    if (parts.length < 2) continue;
    const relation = compare({ lines, names, total, stated, parts }, { sums, missing, decimals, rounding, spread, least, largest });
    const tries = Math.log10(2 * parts.length);
    const needed = (isNamed ? chanceDigits.named : chanceDigits.unnamed) + tries;
    if (!isMostlyTrue(relation, isNamed) || relation.digits < needed) continue;
    if (!best || weigh(relation) > weigh(best)) best = { ...relation, parts: [...parts] };
  }
  return best;
}

/** One place of two may be wrong if the name says that it is a total, or if one digit makes it right. */
function isMostlyTrue({ holds, fails: all }: SumRelation, isNamed: boolean): boolean {
  const fails = all.filter(({ isBetween, isSlight }) => !isBetween && !isSlight);
  const [only] = fails;
  if (holds.length > fails.length) return true;
  return fails.length === 1 && only !== undefined && holds.length === 1 && (isNamed || isSlip(only.stated, only.computed));
}

/** Of the parts taken so far, by position. */
interface Tally {
  sums: number[];
  missing: number[];
  /** The most decimal digits that a number is written with. */
  decimals: number[];
  /** How far the sum is off at most when each number was rounded to its own digits, and the sum of the squares. */
  rounding: number[];
  spread: number[];
  least: number[];
  largest: number[];
}

interface Comparison {
  lines: Lines;
  names: Names;
  total: number;
  /** Positions where the total is stated. */
  stated: number[];
  parts: number[];
}

function compare({ lines, names, total, stated, parts }: Comparison, tally: Tally): SumRelation {
  const { sums, missing, decimals, rounding, spread, least, largest } = tally;
  const relation: SumRelation = { total, parts, holds: [], fails: [], digits: 0 };
  const others: FailedSum[] = [];
  const seen = new Set<string>();
  for (const at of stated) {
    const [value, computed, step] = [lines[total]?.[at] as number, sums[at] as number, 10 ** -(decimals[at] as number)];
    const present = parts.length - (missing[at] as number);
    if (present === 0) continue;
    if (isSame(value, computed, present, step)) {
      // A sum of one number besides blanks tells nothing, nor do zeros.
      if (present === 1 || value === 0) continue;
      relation.holds.push(at);
      // The same numbers again, as in a series that does not move, tell nothing new.
      const first = parts.slice(0, 2).map((part) => lines[part]?.[at] ?? 0);
      const numbers = [value, ...first].join(' ');
      const written = Math.max(step, findRoundUnit(value, ...first), Math.abs(value) * 1e-6);
      if (!seen.has(numbers)) relation.digits += Math.max(0, magnitude(value) - magnitude(written));
      seen.add(numbers);
      continue;
    }
    const mostRounding = Math.min(rounding[at] as number, rareRounding * Math.sqrt((spread[at] as number) / 3));
    const isRounded = Math.abs(value - computed) <= mostRounding + 1e-9;
    // Nothing is added up where all is zero.
    if (least[at] === 0 && largest[at] === 0) continue;
    const isBetween = value >= (least[at] as number) && value <= (largest[at] as number);
    // Shares add up to a whole, other rates to nothing.
    if (isRounded || (names.isRate(total, at) && Math.abs(computed - 100) > 0.5 && !isSlip(value, computed))) continue;
    others.push(describeFail(at, value, computed, isBetween));
  }
  // Blanks count as nothing where sums beside them hold with as many, and where one digit makes the sum right.
  const mostMissing = Math.max(0, ...relation.holds.map((at) => missing[at] as number));
  relation.fails = others.filter(({ at, stated, computed }) => (missing[at] as number) <= mostMissing || isSlip(stated, computed));
  return relation;
}
