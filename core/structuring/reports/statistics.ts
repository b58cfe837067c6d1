/** Averages and extremes of the rows above: by their names and the numbers, or by numbers that nobody types. */

import { type Statistic, statisticOf } from '../names/words.ts';
import { MAX_GRAND_TOTALS, MAX_UNMARKED_PARTS, MAX_UNMARKED_ROWS, MIN_MEAN_PARTS, STRONG_DIGITS } from '../thresholds.ts';
import { countLongDigits, readLongFigures } from './longFigures.ts';
import { isOpen, type ReportRow, type ReportWork } from './report.ts';
import { isSameSum, unitOf } from './sums.ts';

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

/** `2010/11` below its twelve months: the mean of the rows right above it, in figures that only a division leaves. */
export function linkMeans(work: ReportWork): void {
  const { rows, repeated } = work;
  if (rows.length > MAX_UNMARKED_ROWS) return;
  const parents = new Set(rows.map((row) => row.parent));
  rows.forEach((row, k) => {
    if (!isOpen(row) || parents.has(k) || repeated.has(row.label) || !isMeanOfRowsAbove(work, k)) return;
    row.role = 'computed';
    row.certain = true;
  });
}

function isMeanOfRowsAbove({ rows, table: { matrix } }: ReportWork, k: number): boolean {
  const stated = matrix[rows[k]!.at]!;
  const above = matrix[rows[k - 1]?.at ?? -1] ?? [];
  // Rows that are all the same have themselves for their mean.
  const figures = readLongFigures(stated.map((value, c) => (value === above[c] ? null : value)));
  if (figures === null) return false;
  const sums = stated.map(() => 0);
  const counts = stated.map(() => 0);
  let parts = 0;
  for (let j = k - 1; j >= 0 && parts < MAX_UNMARKED_PARTS; j -= 1) {
    const part = rows[j]!;
    if (part.virtual || !part.hasValues) continue;
    if (part.role !== 'detail') return false;
    parts += 1;
    matrix[part.at]!.forEach((value, c) => {
      if (value === null) return;
      sums[c] = sums[c]! + value;
      counts[c] = counts[c]! + 1;
    });
    if (parts < MIN_MEAN_PARTS) continue;
    const digits = countLongDigits(figures, (c) => (counts[c]! === 0 ? null : sums[c]! / counts[c]!));
    if (digits - Math.log10(parts * rows.length) >= STRONG_DIGITS) return true;
  }
  return false;
}
