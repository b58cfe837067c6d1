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

/** What is known of lines and positions by their names. */
export interface Names {
  /** The name of the line says "total". */
  isTotal(line: number): boolean;
  /** Rates and averages stand in this place of a line: they need not add up. */
  isRate(line: number, at: number): boolean;
}

export function findSums(lines: Lines, names: Names): SumRelation[] {
  const steps = findSteps(lines);
  const found = new Map<number, SumRelation>();
  // Totals above their parts from the bottom up, totals below them from the top down: what has a total counts once, by its total.
  for (const direction of [1, -1] as const) {
    const covered = new Map<number, Set<number>>();
    const order = direction === 1 ? lines.map((_, k) => lines.length - 1 - k) : lines.map((_, k) => k);
    for (const line of order) {
      const relation = findSum(lines, steps, line, direction, names, covered);
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
      const found = findSlip(lines, total, at, -1) ?? findSlip(lines, total, at, 1);
      if (found) slipped.push(found);
    }
  });
  return slipped;
}

function findSlip(lines: Lines, total: number, at: number, direction: 1 | -1): SlippedTotal | null {
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
    const digits = magnitude(stated) + countDecimals(stated) + 1;
    const chance = (parts.length * slipsOfADigit * digits) / 10 ** digits;
    return { total, parts, fail: { at, stated, computed, isBetween: false }, chance };
  }
  return null;
}

function weigh({ digits, fails }: SumRelation): number {
  return digits - 2 * fails.length;
}

/** The last written digit of each position, as a power of ten; 0 for numbers that are computed in full. */
function findSteps(lines: Lines): number[] {
  const width = lines[0]?.length ?? 0;
  return Array.from({ length: width }, (_, at) => {
    let decimals = 0;
    for (const line of lines) decimals = Math.max(decimals, countDecimals(line[at] ?? 0));
    return decimals >= 4 ? 0 : 10 ** -decimals;
  });
}

/** Parts are rounded one by one, so the usual error of a sum grows as the root of their number. */
function isSame(stated: number, computed: number, parts: number, step: number): boolean {
  const tolerance = Math.max(Math.abs(stated), Math.abs(computed)) * 1e-9 + step * 0.5 * (Math.sqrt(parts) + 1) + 1e-9;
  return Math.abs(stated - computed) <= tolerance;
}

/** How far a sum can be off when each number was rounded to the digits it is written with. Long fractions are not rounded. */
function roundingOf(value: number): number {
  const decimals = countDecimals(value);
  return decimals >= 6 ? 0 : 0.5 * 10 ** -decimals;
}

function findSum(
  lines: Lines,
  steps: number[],
  total: number,
  direction: 1 | -1,
  names: Names,
  covered: Map<number, Set<number>>,
): SumRelation | null {
  const isNamed = names.isTotal(total);
  const own = lines[total] as (number | null)[];
  const stated = own.flatMap((value, at) => (value === null ? [] : [at]));
  if (stated.length === 0 || stated.every((at) => own[at] === 0)) return null;
  const sums = own.map(() => 0);
  const missing = own.map(() => 0);
  const rounding = own.map((value) => (value === null ? 0 : roundingOf(value)));
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
        rounding[at] = (rounding[at] as number) + roundingOf(value);
        least[at] = Math.min(least[at] as number, value);
        largest[at] = Math.max(largest[at] as number, value);
      }
    }
    if (parts.length < 2) continue;
    const relation = compare({ total, own, stated, parts, steps, names }, { sums, missing, rounding, least, largest });
    const tries = Math.log10(2 * parts.length);
    const needed = (isNamed ? chanceDigits.named : chanceDigits.unnamed) + tries;
    if (!isMostlyTrue(relation, isNamed) || relation.digits < needed) continue;
    if (!best || weigh(relation) > weigh(best)) best = { ...relation, parts: [...parts] };
  }
  return best;
}

/** One place of two may be wrong if the name says that it is a total, or if one digit makes it right. */
function isMostlyTrue({ holds, fails: all }: SumRelation, isNamed: boolean): boolean {
  const fails = all.filter(({ isBetween }) => !isBetween);
  const [only] = fails;
  if (holds.length > fails.length) return true;
  return fails.length === 1 && only !== undefined && holds.length === 1 && (isNamed || isSlip(only.stated, only.computed));
}

/** Of the parts taken so far, by position. */
interface Tally {
  sums: number[];
  missing: number[];
  rounding: number[];
  least: number[];
  largest: number[];
}

interface Comparison {
  total: number;
  own: (number | null)[];
  stated: number[];
  parts: number[];
  steps: number[];
  names: Names;
}

function compare({ total, own, stated, parts, steps, names }: Comparison, { sums, missing, rounding, least, largest }: Tally): SumRelation {
  const relation: SumRelation = { total, parts, holds: [], fails: [], digits: 0 };
  const others: FailedSum[] = [];
  for (const at of stated) {
    const [value, computed, step] = [own[at] as number, sums[at] as number, steps[at] as number];
    const present = parts.length - (missing[at] as number);
    if (present === 0) continue;
    if (isSame(value, computed, present, step)) {
      relation.holds.push(at);
      // A sum of one number besides blanks tells nothing.
      if (present > 1) relation.digits += Math.max(0, magnitude(value) - magnitude(Math.max(step, Math.abs(value) * 1e-6)));
      continue;
    }
    const isRounded = Math.abs(value - computed) <= (rounding[at] as number) + 1e-9;
    const isBetween = value >= (least[at] as number) && value <= (largest[at] as number);
    // Shares add up to a whole, other rates to nothing.
    if (isRounded || (names.isRate(total, at) && Math.abs(computed - 100) > 0.5)) continue;
    others.push({ at, stated: value, computed, isBetween });
  }
  // Blanks count as nothing where sums beside them hold with as many.
  const mostMissing = Math.max(0, ...relation.holds.map((at) => missing[at] as number));
  relation.fails = others.filter(({ at }) => (missing[at] as number) <= mostMissing);
  return relation;
}
