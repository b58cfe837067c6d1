/** A moment through one section of a date format, Japanese eras included. */

import { applyDigitStyle } from './kanjiDigits.ts';
import type { FormatSection, FormatToken } from './parseFormat.ts';

const DAY_MS = 86_400_000;
/** Day 0 of the 1900 system: times of day and durations count from here. */
export const TIME_ORIGIN_MS = Date.UTC(1899, 11, 31);

const ERAS = [
  { from: Date.UTC(2019, 4, 1), firstYear: 2019, names: ['R', '令', '令和'] },
  { from: Date.UTC(1989, 0, 8), firstYear: 1989, names: ['H', '平', '平成'] },
  { from: Date.UTC(1926, 11, 25), firstYear: 1926, names: ['S', '昭', '昭和'] },
  { from: Date.UTC(1912, 6, 30), firstYear: 1912, names: ['T', '大', '大正'] },
  { from: Date.UTC(1868, 0, 25), firstYear: 1868, names: ['M', '明', '明治'] },
] as const;

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const KANJI_WEEKDAYS = '日月火水木金土';

export function renderDate(section: FormatSection, ms: number): string {
  const moment = readMoment(findNeeds(section), ms);
  let text = '';
  for (const token of section.tokens) text += renderToken(token, moment, section);
  return text;
}

/** What a section asks of a moment: found out once, not for each of a million dates. */
interface Needs {
  /** Milliseconds to which it is rounded. */
  unit: number;
  twelveHours: boolean;
  era: boolean;
  /** `e` counts the years of an era. */
  eraYears: boolean;
}

const needsOf = new WeakMap<FormatSection, Needs>();

function findNeeds(section: FormatSection): Needs {
  const known = needsOf.get(section);
  if (known) return known;
  const { tokens } = section;
  const fraction = tokens.find((token) => token.type === 'secondFraction');
  const hasPart = (parts: string): boolean => tokens.some((token) => token.type === 'date' && parts.includes(token.part));
  const needs = {
    unit: fraction ? 10 ** Math.max(0, 3 - fraction.length) : 1000,
    twelveHours: tokens.some((token) => token.type === 'halfDay'),
    era: hasPart('ge'),
    eraYears: section.japanese || section.gannen || hasPart('g'),
  };
  needsOf.set(section, needs);
  return needs;
}

interface Moment {
  year: number;
  month: number;
  day: number;
  weekday: number;
  hour: number;
  minute: number;
  second: number;
  milli: number;
  /** Since the time origin, for `[h]`. */
  elapsedMs: number;
  era: (typeof ERAS)[number] | null;
  twelveHours: boolean;
  /** `e` counts the years of an era. */
  eraYears: boolean;
}

function readMoment(needs: Needs, ms: number): Moment {
  const rounded = Math.round(ms / needs.unit) * needs.unit;
  const date = new Date(rounded);
  const dayZero = rounded < TIME_ORIGIN_MS + DAY_MS;
  return {
    // Excel calls the day before its first one 1900-01-00.
    year: dayZero ? 1900 : date.getUTCFullYear(),
    month: dayZero ? 1 : date.getUTCMonth() + 1,
    day: dayZero ? 0 : date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    milli: date.getUTCMilliseconds(),
    elapsedMs: rounded - TIME_ORIGIN_MS,
    era: needs.era ? (ERAS.find((era) => rounded >= era.from) ?? null) : null,
    twelveHours: needs.twelveHours,
    eraYears: needs.eraYears,
  };
}

function renderToken(token: FormatToken, moment: Moment, section: FormatSection): string {
  switch (token.type) {
    case 'literal':
      return token.text;
    case 'date':
      return applyDigitStyle(renderPart(token.part, token.length, moment, section), section.digitStyle, !'ye'.includes(token.part));
    case 'elapsed': {
      const per = token.part === 'h' ? 3_600_000 : token.part === 'm' ? 60_000 : 1000;
      return String(Math.floor(moment.elapsedMs / per)).padStart(token.length, '0');
    }
    case 'halfDay':
      return moment.hour < 12 ? token.am : token.pm;
    case 'secondFraction':
      return `.${String(moment.milli).padStart(3, '0').padEnd(token.length, '0').slice(0, token.length)}`;
    case 'slash':
      return '/';
    case 'point':
      return '.';
    case 'comma':
      return ',';
    case 'digit':
      return token.mark === '0' ? '0' : '';
    case 'percent':
      return '%';
    case 'gap':
      return ' ';
    default:
      return '';
  }
}

function pad(length: number, n: number): string {
  return length >= 2 && n < 10 ? `0${n}` : String(n);
}

function renderPart(part: string, length: number, moment: Moment, section: FormatSection): string {
  switch (part) {
    case 'y':
      return length <= 2 ? pad(2, moment.year % 100) : String(moment.year);
    case 'b':
      return length <= 2 ? pad(2, (moment.year + 543) % 100) : String(moment.year + 543);
    case 'M':
      if (length <= 2) return pad(length, moment.month);
      return (MONTHS[moment.month - 1] ?? '').slice(0, length === 3 ? 3 : length === 5 ? 1 : 9);
    case 'd':
      if (length <= 2) return pad(length, moment.day);
      return (WEEKDAYS[moment.weekday] ?? '').slice(0, length === 3 ? 3 : 9);
    case 'a':
      return `${KANJI_WEEKDAYS.charAt(moment.weekday)}${length === 3 ? '' : '曜日'}`;
    case 'h':
      return pad(length, moment.twelveHours ? ((moment.hour + 11) % 12) + 1 : moment.hour);
    case 'm':
      return pad(length, moment.minute);
    case 's':
      return pad(length, moment.second);
    case 'g':
      return moment.era?.names[Math.min(length, 3) - 1] ?? '';
    case 'e': {
      if (!moment.eraYears || !moment.era) return String(moment.year);
      const year = moment.year - moment.era.firstYear + 1;
      return year === 1 && section.gannen ? '元' : pad(length, year);
    }
    default:
      return '';
  }
}
