/**
 * Periods as they are written in headers. A period may lack its year (`4月`, `Q1`) and take it from the header above.
 */

import { expandYear, isoDate, monthOfName, parseDateText } from '../types/date.ts';
import { yearOfEra } from './eras.ts';

type PeriodKind = 'year' | 'fiscalYear' | 'half' | 'quarter' | 'month' | 'week' | 'date' | 'term';

export interface Period {
  kind: PeriodKind;
  /** Calendar or fiscal year, null when only a parent could say it. */
  year: number | null;
  /** Month 1-12, quarter 1-4, half 1-2, week, term; 0 for years; day number for dates. */
  part: number;
  /** The year runs from April: 年度 and what stands under it. */
  aprilYear: boolean;
  /** First day, null where it cannot be known. */
  start: string | null;
}

const ERA_YEAR = '(令和|平成|昭和|大正|明治|[RHSTM])\\s?\\.?(元|\\d{1,2})';
const ERA_YEAR_ONLY = new RegExp(`^${ERA_YEAR}(年度|年)?$`, 'i');
const ERA_MONTH = new RegExp(`^${ERA_YEAR}[./-](\\d{1,2})$`, 'i');
const QUARTER_WORDS: Record<string, number> = { 第一: 1, 第二: 2, 第三: 3, 第四: 4, first: 1, second: 2, third: 3, fourth: 4 };

function make(kind: PeriodKind, year: number | null, part: number, aprilYear: boolean, start: string | null): Period {
  return { kind, year, part, aprilYear, start };
}

function fiscalYear(year: number): Period {
  return make('fiscalYear', year, 0, true, isoDate(year, 4, 1));
}

function calendarYear(year: number): Period | null {
  return year >= 1800 && year <= 2200 ? make('year', year, 0, false, isoDate(year, 1, 1)) : null;
}

/** The 年度 that ends in this month, as in `2023年3月期`. */
function yearEnded(year: number, month: number): Period {
  return make(
    'fiscalYear',
    month === 12 ? year : year - 1,
    0,
    month === 3,
    month === 12 ? isoDate(year, 1, 1) : isoDate(year - 1, month + 1, 1),
  );
}

function monthOf(year: number | null, month: number, aprilYear: boolean): Period | null {
  if (month < 1 || month > 12) return null;
  const calendar = year === null ? null : aprilYear && month < 4 ? year + 1 : year;
  return make('month', year, month, aprilYear, calendar === null ? null : isoDate(calendar, month, 1));
}

function quarterOf(year: number | null, quarter: number, aprilYear: boolean | null): Period | null {
  if (quarter < 1 || quarter > 4) return null;
  if (year === null || aprilYear === null) return make('quarter', year, quarter, aprilYear ?? false, null);
  const first = (aprilYear ? 4 : 1) + 3 * (quarter - 1);
  return make('quarter', year, quarter, aprilYear, first > 12 ? isoDate(year + 1, first - 12, 1) : isoDate(year, first, 1));
}

function halfOf(year: number | null, half: number, aprilYear: boolean | null): Period {
  if (year === null || aprilYear === null) return make('half', year, half, aprilYear ?? false, null);
  const first = (aprilYear ? 4 : 1) + 6 * (half - 1);
  return make('half', year, half, aprilYear, isoDate(year, first, 1));
}

/** What is written before a month, quarter or half: `2023年度`, `令和5年`, `FY2023`. */
function parseYearPrefix(text: string): { year: number; aprilYear: boolean | null } | null {
  const period = parseYear(text);
  if (!period || period.year === null) return null;
  return { year: period.year, aprilYear: period.start === null ? null : period.aprilYear };
}

function parseYear(text: string): Period | null {
  let m = /^(\d{4})年度末?$/.exec(text);
  if (m) return fiscalYear(Number(m[1]));
  m = /^(?:CY\s?)?(\d{4})(?:年|暦年|年次)?$/i.exec(text);
  if (m) return calendarYear(Number(m[1]));
  m = /^(?:FY|F\.Y\.|fiscal year|fiscal)\s?['’]?(\d{4}|\d{2})\s?(?:[AEFPB]|\([AEFPB]\))?$/i.exec(text) ?? /^(\d{4})\s?FY$/i.exec(text);
  if (m) return make('fiscalYear', expandYear(Number(m[1])), 0, false, null);
  m = ERA_YEAR_ONLY.exec(text);
  if (m) {
    // H1 and H2 alone are halves far more often than 1989 and 1990.
    if (/^[HS][12]$/i.test(text)) return null;
    const year = yearOfEra(m[1]!, m[2]!);
    if (year === null || year > 2100) return null;
    // Letters alone (M3, T1) are labels of all kinds; only R, H and S are read without a word behind them.
    if (/^[TM]$/i.test(m[1]!) && !m[3]) return null;
    return m[3] === '年度' ? fiscalYear(year) : calendarYear(year);
  }
  m = /^(\d{4})\s?[-–~/]\s?(\d{4}|\d{2})$/.exec(text);
  if (m) {
    const [from, to] = [Number(m[1]), Number(m[2])];
    const end = to < 100 ? Math.floor(from / 100) * 100 + to : to;
    if (end - from === 1 && (to >= 100 || to > 12)) return make('fiscalYear', from, 0, false, null);
  }
  m = /^(\d{4})\s?(?:\(?(?:est\.?|e|a|f|p|r|prel\.?|proj\.?|実績|見込|予想|予測)\)?|\\\d|\s\d\/)$/i.exec(text);
  if (m) return calendarYear(Number(m[1]));
  return null;
}

function parseMonth(text: string): Period | null {
  let m = /^(.+?(?:年度|年))\s?(\d{1,2})月(?:度|分)?$/.exec(text);
  if (m) {
    const year = parseYearPrefix(m[1]!.trim());
    return year ? monthOf(year.year, Number(m[2]), year.aprilYear ?? false) : null;
  }
  m = /^(\d{4})\s?[-/.]\s?(\d{1,2})$/.exec(text);
  if (m) return monthOf(Number(m[1]), Number(m[2]), false);
  m = /^(\d{1,2})\/(\d{4})$/.exec(text);
  if (m) return monthOf(Number(m[2]), Number(m[1]), false);
  m = ERA_MONTH.exec(text);
  if (m) {
    const year = yearOfEra(m[1]!, m[2]!);
    return year === null ? null : monthOf(year, Number(m[3]), false);
  }
  m = /^(\d{1,2})月(?:度|分|末)?$/.exec(text);
  if (m) return monthOf(null, Number(m[1]), false);
  m = /^([A-Za-z]{3,9})\.?(?:\s?[-/,]?\s?['’]?(\d{4}|\d{2}))?$/.exec(text);
  if (m) {
    const month = monthOfName(m[1]!);
    return month ? monthOf(m[2] ? expandYear(Number(m[2])) : null, month, false) : null;
  }
  return null;
}

function parseQuarterOrHalf(text: string): Period | null {
  // `Q117`, `1Q23`, `2H24E`: quarter or half and two digits of the year, without anything between them.
  const short = /^(?:(Q|H)([1-4])['’]?|([1-4])(Q|H)\s?['’]?)(\d{2})[AEFP]?$/i.exec(text);
  if (short) {
    const [part, year] = [Number(short[2] ?? short[3]), expandYear(Number(short[5]))];
    if (/^q$/i.test(short[1] ?? short[4]!)) return quarterOf(year, part, null);
    return part <= 2 ? halfOf(year, part, null) : null;
  }
  let m =
    /^(.*?)\s?[-_]?\s?(?:第\s?([1-4一二三四])\s?四半期|Q\s?([1-4])(?!\d)|(?<!\d)([1-4])\s?Q(?!\s?\d)|([1-4])(?:st|nd|rd|th)\s(?:quarter|qtr\.?)|(?:quarter|qtr\.?)\s?([1-4])|(first|second|third|fourth)\squarter)\s?,?\s?(.*)$/i.exec(
      text,
    );
  if (m) {
    const digit = m[2] ?? m[3] ?? m[4] ?? m[5] ?? m[6];
    const quarter = m[7]
      ? QUARTER_WORDS[m[7].toLowerCase()]!
      : '一二三四'.includes(digit!)
        ? '一二三四'.indexOf(digit!) + 1
        : Number(digit);
    const around = `${m[1] ?? ''}${m[8] ?? ''}`.trim();
    if (around === '') return quarterOf(null, quarter, null);
    const year =
      parseYearPrefix(around) ??
      (/^['’]?\d{2}$/.test(around) ? { year: expandYear(Number(around.replace(/\D/g, ''))), aprilYear: false } : null);
    return year ? quarterOf(year.year, quarter, year.aprilYear) : null;
  }
  m = /^(.*?)\s?(上期|下期|上半期|下半期|前半期|後半期|[12]H|H[12])\s?(.*)$/i.exec(text);
  if (m) {
    const half = /^(上|前|1H|H1)/i.test(m[2]!) ? 1 : 2;
    const around = `${m[1] ?? ''}${m[3] ?? ''}`.trim();
    if (around === '') return halfOf(null, half, null);
    const year = parseYearPrefix(around);
    return year ? halfOf(year.year, half, year.aprilYear) : null;
  }
  return null;
}

/** Every period has a digit, a month's name or one of these words; most labels are ruled out by this alone. */
const MAY_BE_PERIOD = /[\d０-９一二三四元]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|上|下|前半|後半|quarter/i;

/** A header text as a period, or null. Bare numbers count as years from 1800 to 2200 only. */
export function parsePeriod(text: string): Period | null {
  if (text.length > 30 || !MAY_BE_PERIOD.test(text)) return null;
  const plain = text
    .normalize('NFKC')
    .replace(/[\s\u00a0]+/g, ' ')
    .trim()
    .replace(/^[(（](.*)[)）]$/, '$1');
  if (plain === '') return null;
  let m = /^(.+?)(?:年|[./-])(\d{1,2})月?期(?:\(.*\))?$/.exec(plain);
  if (m) {
    const year = parseYear(/^\d{4}$|^\d{4}年/.test(m[1]!) ? m[1]! : `${m[1]}年`)?.year ?? null;
    return year === null ? null : yearEnded(year, Number(m[2]));
  }
  m = /^第\s?(\d{1,3})\s?期$/.exec(plain);
  if (m) return make('term', null, Number(m[1]), false, null);
  m = /^(?:第\s?(\d{1,2})\s?週|W(?:eek)?\s?(\d{1,2}))$/i.exec(plain);
  if (m) return make('week', null, Number(m[1] ?? m[2]), false, null);
  m = /^(?:year|month|day|period)\s?(\d{1,3})$/i.exec(plain) ?? /^(\d{1,2})(?:年目|ヶ月目|か月目|カ月目|日目)$/.exec(plain);
  if (m) return make('term', null, Number(m[1]), false, null);
  m = /^(\d{1,2})\/(\d{1,2})\s?[~〜–-]\s?(?:\d{1,2}\/)?\/?\d{1,2}$/.exec(plain);
  if (m && Number(m[1]) >= 1 && Number(m[1]) <= 12 && Number(m[2]) >= 1 && Number(m[2]) <= 31)
    return make('week', null, Number(m[1]) * 100 + Number(m[2]), false, null);
  const simple = parseYear(plain) ?? parseMonth(plain) ?? parseQuarterOrHalf(plain);
  if (simple) return simple;
  const date = parseDateText(plain);
  return date ? periodOfDate(date.iso.slice(0, 10)) : null;
}

export function periodOfDate(iso: string): Period {
  return make('date', Number(iso.slice(0, 4)), Math.floor(Date.parse(`${iso}T00:00:00Z`) / 86_400_000), false, iso);
}

/** A day of a month that is written above it; null when the month has no such day. The year may be missing. */
export function dayOfMonth(month: Period, day: number): Period | null {
  if (month.kind !== 'month' || day < 1 || day > 31) return null;
  if (month.start === null) return make('date', null, month.part * 100 + day, false, null);
  const iso = isoDate(Number(month.start.slice(0, 4)), Number(month.start.slice(5, 7)), day);
  return iso === null ? null : periodOfDate(iso);
}

/** `2023年度` over `4月`; null when the two do not make one period. */
export function combinePeriods(parent: Period, child: Period): Period | null {
  if (child.year !== null || parent.year === null) return null;
  if (
    parent.kind !== 'year' &&
    parent.kind !== 'fiscalYear' &&
    !(child.kind === 'month' && (parent.kind === 'quarter' || parent.kind === 'half'))
  )
    return null;
  const april = parent.start === null ? null : parent.aprilYear;
  if (child.kind === 'month') {
    const month = monthOf(parent.year, child.part, parent.aprilYear);
    return month && parent.start === null ? { ...month, start: null } : month;
  }
  if (child.kind === 'quarter') return quarterOf(parent.year, child.part, april);
  if (child.kind === 'half') return halfOf(parent.year, child.part, april);
  return null;
}

/** A number that sorts periods of one kind; months of an April year run 4..15. */
function orderOfPeriod(period: Period): number {
  if (period.kind === 'date') return period.part;
  const part = period.kind === 'month' && period.aprilYear && period.part < 4 ? period.part + 12 : period.part;
  return (period.year ?? 0) * 100 + part;
}

/**
 * Whether periods ascend or descend. Months and quarters without a year may start over once (4月 … 3月), because the change of
 * year is not written.
 */
export function arePeriodsInOrder(periods: Period[]): boolean {
  if (periods.length < 2) return false;
  if (!periods.every((p) => p.kind === periods[0]!.kind)) return false;
  const keys = periods.map(orderOfPeriod);
  const steps = keys.slice(1).map((key, i) => key - keys[i]!);
  if (steps.every((s) => s > 0) || steps.every((s) => s < 0)) return true;
  if (periods.some((p) => p.year !== null)) return false;
  const wraps = steps.filter((s) => s <= 0).length;
  return new Set(keys).size === keys.length && wraps === 1 && keys.at(-1)! < keys[0]!;
}
