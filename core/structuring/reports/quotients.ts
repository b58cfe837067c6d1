/** Shares, rates and growth: one row by another, by their names and the numbers, or by numbers that nobody types. */

import { isRatioLabel } from '../names/words.ts';
import { MAX_QUOTIENT_ROWS, QUOTIENT_DIGITS, STRONG_DIGITS } from '../thresholds.ts';
import { countLongDigits, isLong, isSameLong, readLongFigures } from './longFigures.ts';
import { isOpen, type ReportRow, type ReportWork } from './report.ts';
import { digitsOf, isSameSum, unitOf } from './sums.ts';

/** `Gross margin %`, `伸び率`: computed where one row by another, or by another column, gives it, too often for chance. */
export function linkQuotients(work: ReportWork): void {
  const { rows, table, repeated } = work;
  if (rows.length > MAX_QUOTIENT_ROWS) return;
  const parts = rows.filter((row) => row.hasValues && !row.virtual && !isRatioLabel(row.label) && !isShownAsPercent(work, row));
  const parents = new Set(rows.map((row) => row.parent));
  const isShort = (row: ReportRow) => !table.matrix[row.at]!.some((value) => value !== null && isLong(value));
  const short = parts.filter(isShort).map((part) => table.matrix[part.at]!);
  rows.forEach((row, k) => {
    if (!isOpen(row) || parents.has(k)) return;
    const stated = table.matrix[row.at]!;
    const isNamed = isRatioLabel(row.label) || isShownAsPercent(work, row);
    if (!isNamed && repeated.has(row.label)) return;
    const isFound = isNamed
      ? isNamedQuotient(
          stated,
          parts.filter((part) => part !== row).map((part) => table.matrix[part.at]!),
        )
      : isLongQuotient(stated, short, rows.length);
    if (!isFound) return;
    row.role = 'computed';
    row.certain = true;
  });
}

type Figures = (number | null)[];

function isNamedQuotient(values: Figures, parts: Figures[]): boolean {
  const stated = readStated(values);
  const chances = Math.log10(Math.max(1, parts.length * (parts.length + 3)));
  return (
    parts.some((upper) => parts.some((lower) => upper !== lower && agrees(stated, (c) => divide(upper[c], lower[c]), chances))) ||
    parts.some(
      (own) =>
        agrees(stated, (c) => divide(own[c], own[c - 1], 1), chances) ||
        wholesOf(own).some((whole) => agrees(stated, (c) => divide(own[c], whole), chances)),
    )
  );
}

/** A row adds up to its first figure or to its last one. */
function wholesOf(own: Figures): (number | null | undefined)[] {
  const isFigure = (value: number | null) => value !== null;
  return [own.find(isFigure), own.findLast(isFigure)];
}

/** Written as a share, in per cent, by the thousand, by the hundred thousand. */
const SCALES = [1, 100, 1_000, 100_000];

/**
 * A quotient of short figures with more digits than anybody types is the result of a division. With short ones it could be the other way
 * round: an amount by its quantity gives the price, which was typed.
 */
function isLongQuotient(stated: Figures, parts: Figures[], rows: number): boolean {
  const figures = readLongFigures(stated);
  if (figures === null) return false;
  const needed = STRONG_DIGITS + Math.log10(rows * SCALES.length * Math.max(1, parts.length * (parts.length + 4)));
  const holds = (quotientOf: (column: number) => number | null) =>
    SCALES.some((scale) => countLongDigits(figures, quotientOf, scale) >= needed);
  // Of thousands of pairs nearly all differ in the first figure, and one is enough to refuse them.
  const { column: first = 0, value = 0 } = figures.find((figure) => figure.isLong) ?? {};
  const mayHold = (upper: Figures, lower: Figures) => {
    const quotient = divide(upper[first], lower[first]);
    return quotient === null || SCALES.some((scale) => isSameLong(value, quotient * scale));
  };
  return parts.some(
    (upper) =>
      parts.some((lower) => upper !== lower && mayHold(upper, lower) && holds((c) => divide(upper[c], lower[c]))) ||
      holds((c) => divide(upper[c], upper[c - 1])) ||
      holds((c) => divide(upper[c], upper[c - 1], 1)) ||
      wholesOf(upper).some((whole) => holds((c) => divide(upper[c], whole))),
  );
}

function divide(upper: number | null | undefined, lower: number | null | undefined, less = 0): number | null {
  return upper === null || upper === undefined || !lower ? null : upper / lower - less;
}

interface StatedFigure {
  column: number;
  value: number;
  unit: number;
}

/** Once for all pairs that it is compared with: the unit of a figure is found in its text. */
function readStated(values: Figures): StatedFigure[] {
  return values.flatMap((value, column) => (value === null ? [] : [{ column, value, unit: unitOf([value]) }]));
}

function agrees(stated: StatedFigure[], quotientOf: (column: number) => number | null, chances: number): boolean {
  let compared = 0;
  let holds = 0;
  let digits = 0;
  for (const { column, value, unit } of stated) {
    const quotient = quotientOf(column);
    if (quotient === null) continue;
    compared += 1;
    // Written as 52 or as 52 %.
    if (!isSameSum(value, quotient, 1, unit) && !isSameSum(value, quotient * 100, 1, unit)) {
      if (compared - holds > 1) return false;
      continue;
    }
    holds += 1;
    digits += digitsOf(value, unit);
  }
  return holds > 1 && holds >= compared * 0.8 && digits - chances >= QUOTIENT_DIGITS;
}

/** Every figure has a percent sign. */
function isShownAsPercent({ view, table, valueColumns }: ReportWork, row: ReportRow): boolean {
  const [from, to] = table.spans[row.at]!;
  let figures = 0;
  for (let i = from; i < to; i += 1) {
    if (!valueColumns.has(view.grid.columns[i]!)) continue;
    if (!/%$/.test(view.label(i))) return false;
    figures += 1;
  }
  return figures > 0;
}
