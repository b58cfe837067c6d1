/** Rows that are computed and are no sums: averages, extremes, shares and growth, where their names and the numbers agree. */

import { isRatioLabel, type Statistic, statisticOf } from '../names/words.ts';
import { MAX_GRAND_TOTALS, MAX_QUOTIENT_ROWS, QUOTIENT_DIGITS } from '../thresholds.ts';
import type { ReportRow, ReportWork } from './report.ts';
import { digitsOf, isSameSum, unitOf } from './sums.ts';

const compute: Record<Statistic, (values: number[]) => number> = {
  mean: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  median: (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  },
  max: (values) => values.reduce((most, value) => Math.max(most, value)),
  min: (values) => values.reduce((least, value) => Math.min(least, value)),
};

/** `Average`, `最大`: computed where it is what it is called, of the rows above it. */
export function linkStatistics({ rows, table }: ReportWork): void {
  const kinds = rows.map((row) => (row.labelCell >= 0 ? statisticOf(row.label) : null));
  let tries = 0;
  rows.forEach((row, k) => {
    const statistic = kinds[k]!;
    if (statistic === null || !isOpen(row) || k < 2 || tries >= MAX_GRAND_TOTALS) return;
    tries += 1;
    const parts = rows.filter((part, n) => n < k && kinds[n] === null && part.hasValues && !part.virtual && part.role === 'detail');
    const before = rows.findLast((other, n) => n < k && kinds[n] === null && !other.virtual && other.role !== 'detail');
    const since = parts.filter((part) => part.at > (before?.at ?? -1));
    if (![parts, since].some((own) => own.length > 1 && isStatistic(table.matrix, row, own, statistic))) return;
    row.role = 'computed';
    row.certain = true;
  });
}

function isOpen(row: ReportRow): boolean {
  return !row.virtual && row.hasValues && !row.certain && row.role === 'detail';
}

function isStatistic(matrix: ReportWork['table']['matrix'], row: ReportRow, parts: ReportRow[], statistic: Statistic): boolean {
  let compared = 0;
  let holds = 0;
  matrix[row.at]!.forEach((stated, c) => {
    if (stated === null) return;
    const values = parts.flatMap((part) => matrix[part.at]![c] ?? []);
    if (values.length < 2) return;
    compared += 1;
    if (isSameSum(stated, compute[statistic](values), 1, unitOf([stated]))) holds += 1;
  });
  return holds > 0 && holds * 2 > compared;
}

/** `Gross margin %`, `伸び率`: computed where one row by another, or by the column before, gives it, too often for chance. */
export function linkQuotients(work: ReportWork): void {
  const { rows, table } = work;
  if (rows.length > MAX_QUOTIENT_ROWS) return;
  const parts = rows.filter((row) => row.hasValues && !row.virtual && !isRatioLabel(row.label) && !isShownAsPercent(work, row));
  const children = new Set(rows.map((row) => row.parent));
  rows.forEach((row, k) => {
    if (!isOpen(row) || children.has(k) || !(isRatioLabel(row.label) || isShownAsPercent(work, row))) return;
    const stated = table.matrix[row.at]!;
    const values = parts.filter((part) => part !== row).map((part) => table.matrix[part.at]!);
    const chances = Math.log10(Math.max(1, values.length * (values.length + 1)));
    const isFound =
      values.some((upper) => values.some((lower) => upper !== lower && agrees(stated, (c) => divide(upper[c], lower[c]), chances))) ||
      values.some((own) => agrees(stated, (c) => divide(own[c], own[c - 1], 1), chances));
    if (!isFound) return;
    row.role = 'computed';
    row.certain = true;
  });
}

function divide(upper: number | null | undefined, lower: number | null | undefined, less = 0): number | null {
  return upper === null || upper === undefined || !lower ? null : upper / lower - less;
}

function agrees(stated: (number | null)[], quotientOf: (column: number) => number | null, chances: number): boolean {
  let compared = 0;
  let holds = 0;
  let digits = 0;
  for (let c = 0; c < stated.length; c += 1) {
    const value = stated[c]!;
    const quotient = value === null ? null : quotientOf(c);
    if (value === null || quotient === null) continue;
    compared += 1;
    // Written as 52 or as 52 %.
    const unit = unitOf([value]);
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
