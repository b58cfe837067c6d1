/** Periods across columns: which columns hold which period of which measure. */

import { nameColumn } from '../../a1/address.ts';
import { arePeriodsInOrder, combinePeriods, dayOfMonth, type Period, parsePeriod, periodOfDate } from '../../period/period.ts';
import type { HeaderColumn } from '../headers/columnNames.ts';
import { cleanName } from '../names/names.ts';
import { isTotalColumn } from '../names/words.ts';
import type { SpecPeriod } from '../spec/spec.ts';
import { MAX_UNEXPLAINED } from '../thresholds.ts';

interface PeriodColumn {
  column: HeaderColumn;
  period: Period;
  label: string;
  measure: string;
}

/** The day of the week beside a date. */
export const WEEKDAY =
  /^[(（]?(?:[月火水木金土日](?:曜日?)?|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}|mo|tu|we|th|fr|sa|su|[mtwfs])[)）]?$/i;

/** Letters before a number are eras in Japanese sheets only; elsewhere `R1`, `R2` are anything. */
const ERA_LETTER = /^[RHSTM]\s?\d{1,2}$/i;

/** How headers are read as periods. */
export interface PeriodReading {
  japanese: boolean;
  /** The measure of columns whose header names none. */
  nameless: string;
  /** The month that the days of the header are of, where a line above the table names it. */
  month: Period | null;
}

export function findPeriods(columns: HeaderColumn[], isValue: (column: number) => boolean, reading: PeriodReading): SpecPeriod[] {
  const found: PeriodColumn[] = [];
  for (const column of columns) {
    const read = readPeriod(column, reading);
    if (read) found.push({ column, ...read });
  }
  const main = pickMainKind(found);
  if (!main || hasRepeats(main)) return [];
  const first = main[0]!.column.column;
  const starts = new Map(main.map((entry) => [entry.column.column, entry]));
  const measures = new Set(main.map((entry) => entry.measure));
  const periods: SpecPeriod[] = [];
  for (const column of columns) {
    const entry = starts.get(column.column);
    if (entry) {
      periods.push({ from: nameColumn(column.column), label: entry.label, start: entry.period.start, measure: entry.measure });
      continue;
    }
    if (column.column < first || !isValue(column.column)) continue;
    const computed = readComputed(column, found, measures);
    if (computed) periods.push({ from: nameColumn(column.column), ...computed, start: null, computed: true });
  }
  return isExplained(columns, periods, isValue) ? periods : [];
}

/** How many columns read as a period, whether or not the table becomes long by them. */
export function countPeriods(columns: HeaderColumn[], reading: PeriodReading): number {
  return columns.filter((column) => readPeriod(column, reading) !== null).length;
}

/** The same measure twice in one period: rows would have to be multiplied to hold both. */
function hasRepeats(main: PeriodColumn[]): boolean {
  const seen = new Set<string>();
  for (const { label, measure } of main) {
    const key = `${label}\n${measure}`;
    if (seen.has(key)) return true;
    seen.add(key);
  }
  return false;
}

/** Figures that belong to no period would be repeated with each: one may be a key or a number of the row, several are measures. */
function isExplained(columns: HeaderColumn[], periods: SpecPeriod[], isValue: (column: number) => boolean): boolean {
  const used = new Set(periods.map(({ from }) => from));
  return columns.filter(({ column }) => isValue(column) && !used.has(nameColumn(column))).length <= MAX_UNEXPLAINED;
}

function readPeriod(
  column: HeaderColumn,
  { japanese, nameless, month }: PeriodReading,
): { period: Period; label: string; measure: string } | null {
  let period: Period | null = null;
  const labels: string[] = [];
  const measure: string[] = [];
  for (const [k, part] of column.parts.entries()) {
    const parent: Period | null = period ?? month;
    const day: Period | null = parent && /^\d{1,2}日?$/.test(part) ? dayOfMonth(parent, Number.parseInt(part, 10)) : null;
    if (day) {
      period = day;
      labels.push(part);
      continue;
    }
    // The day of the week below a date says nothing more.
    if (period?.kind === 'date' && WEEKDAY.test(part)) {
      labels.push(part);
      continue;
    }
    const own = periodOfPart(part, column.days[k] ?? null, japanese);
    if (!own) {
      measure.push(part);
      continue;
    }
    // The month and the day of one date, each in a line of its own.
    if (period?.kind === 'date' && own.kind === 'date' && period.start === own.start) {
      labels.push(part);
      continue;
    }
    const joined: Period | null = period ? (combinePeriods(period, own) ?? combinePeriods(own, period)) : own;
    if (!joined) return null;
    period = joined;
    labels.push(part);
  }
  if (!period) return null;
  // The day of the week above a date says nothing more, either.
  const named = period.kind === 'date' ? measure.filter((part) => !WEEKDAY.test(part)) : measure;
  return { period, label: cleanName(labels.join('_')), measure: cleanName(named.join('_')) || nameless };
}

function periodOfPart(part: string, day: string | null, japanese: boolean): Period | null {
  if (!japanese && ERA_LETTER.test(part)) return null;
  const written = parsePeriod(part);
  if (day === null) return written;
  if (written?.kind === 'month') return { ...written, year: Number(day.slice(0, 4)), aprilYear: false, start: `${day.slice(0, 7)}-01` };
  if (written?.kind === 'year') return written;
  return periodOfDate(day);
}

/** The kind of most columns, in order for every measure; coarser ones among them are totals. */
function pickMainKind(found: PeriodColumn[]): PeriodColumn[] | null {
  const byKind = new Map<string, PeriodColumn[]>();
  for (const entry of found) byKind.set(entry.period.kind, [...(byKind.get(entry.period.kind) ?? []), entry]);
  let best: PeriodColumn[] = [];
  for (const entries of byKind.values()) if (entries.length > best.length) best = entries;
  if (best.length < 2) return null;
  const byMeasure = new Map<string, Period[]>();
  for (const entry of best) byMeasure.set(entry.measure, [...(byMeasure.get(entry.measure) ?? []), entry.period]);
  let repeated = false;
  for (const periods of byMeasure.values()) {
    if (periods.length < 2) continue;
    if (!arePeriodsInOrder(periods)) return null;
    repeated = true;
  }
  return repeated ? best : null;
}

/** `年計`, `合計`, and periods coarser than the others: computed over the periods. */
function readComputed(column: HeaderColumn, found: PeriodColumn[], measures: Set<string>): { label: string; measure: string } | null {
  const asPeriod = found.find((entry) => entry.column === column);
  if (asPeriod) return { label: asPeriod.label, measure: pickMeasure(asPeriod.measure, measures) };
  const words = column.parts.filter((part) => isTotalColumn(part));
  if (words.length === 0) return null;
  const rest = column.parts.filter((part) => !isTotalColumn(part));
  const measure = rest.filter((part) => measures.has(part)).join('_');
  const label = cleanName([...rest.filter((part) => !measures.has(part)), ...words].join('_'));
  return { label, measure: pickMeasure(measure, measures) };
}

function pickMeasure(wanted: string, measures: Set<string>): string {
  return measures.has(wanted) ? wanted : [...measures][0]!;
}
