/** Dates as written in Japanese and English sheets, to ISO text. */

import { ERAS } from '../period/eras.ts';

interface ParsedDate {
  /** `YYYY-MM-DD`, or `YYYY-MM-DDTHH:MM:SS` when a time was written. */
  iso: string;
  hasTime: boolean;
}

const MONTH_NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** 1..12 for `Apr`, `April`, `Sept.`; 0 when it is no month. */
export function monthOfName(name: string): number {
  const plain = name.toLowerCase().replace(/\.$/, '');
  if (
    !/^(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)$/.test(plain)
  )
    return 0;
  return MONTH_NAMES.indexOf(plain.slice(0, 3)) + 1;
}

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function isoDate(year: number, month: number, day: number): string | null {
  if (year < 1000 || year > 9999 || month < 1 || month > 12 || day < 1 || day > DAYS[month - 1]!) return null;
  if (month === 2 && day === 29 && !(year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0))) return null;
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** Two-digit years: 00-49 are this century, as Excel reads them within one. */
export function expandYear(year: number): number {
  return year >= 100 ? year : year < 50 ? 2000 + year : 1900 + year;
}

const ERA_PATTERN = `(${ERAS.flatMap((era) => [era.name, era.short]).join('|')})`;
const YMD = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/;
const KANJI = /^(\d{4})年(\d{1,2})月(\d{1,2})日$/;
const ERA_DATE = new RegExp(`^${ERA_PATTERN}(\\d{1,2}|元)(?:年|[./-])(\\d{1,2})(?:月|[./-])(\\d{1,2})日?$`, 'i');
const DAY_MONTH_NAME = /^(\d{1,2})[- ]([A-Za-z]{3,9})\.?[- ,]\s*(\d{4}|\d{2})$/;
const MONTH_NAME_DAY = /^([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/;
const SLASHED = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;
const TIME = /^(.+?)[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?Z?$/;

/** `dayFirst` says how to read `3/4/2024`; when undefined, such a text is not taken for a date, because it is ambiguous. */
export function parseDateText(text: string, dayFirst?: boolean): ParsedDate | null {
  if (text.length > 40 || !/[\d０-９]/.test(text)) return null;
  const plain = text
    .normalize('NFKC')
    .trim()
    .replace(/\s*[(（][月火水木金土日][)）]$/, '');
  const timed = TIME.exec(plain);
  if (timed) {
    const day = parseDay(timed[1]!.trim(), dayFirst);
    const [hour, minute, second] = [Number(timed[2]), Number(timed[3]), Number(timed[4] ?? 0)];
    if (!day || hour > 23 || minute > 59 || second > 59) return null;
    const pad = (n: number) => String(n).padStart(2, '0');
    return { iso: `${day}T${pad(hour)}:${pad(minute)}:${pad(second)}`, hasTime: true };
  }
  const day = parseDay(plain, dayFirst);
  return day ? { iso: day, hasTime: false } : null;
}

function parseDay(text: string, dayFirst: boolean | undefined): string | null {
  let m = YMD.exec(text) ?? KANJI.exec(text);
  if (m) return isoDate(Number(m[1]), Number(m[2]), Number(m[3]));
  m = ERA_DATE.exec(text);
  if (m) {
    const era = ERAS.find((e) => e.name === m![1] || e.short.toLowerCase() === m![1]!.toLowerCase());
    return era ? isoDate(era.firstYear - 1 + (m[2] === '元' ? 1 : Number(m[2])), Number(m[3]), Number(m[4])) : null;
  }
  m = DAY_MONTH_NAME.exec(text);
  if (m) return isoDate(expandYear(Number(m[3])), monthOfName(m[2]!), Number(m[1]));
  m = MONTH_NAME_DAY.exec(text);
  if (m) return isoDate(Number(m[3]), monthOfName(m[1]!), Number(m[2]));
  m = SLASHED.exec(text);
  if (m && dayFirst !== undefined) {
    const [first, second] = [Number(m[1]), Number(m[2])];
    return dayFirst ? isoDate(Number(m[3]), second, first) : isoDate(Number(m[3]), first, second);
  }
  return null;
}

/** Decides `d/m/yyyy` or `m/d/yyyy` for a whole column; undefined when no value decides or values disagree. */
export function detectDayFirst(texts: Iterable<string>): boolean | undefined {
  let dayFirst = false;
  let monthFirst = false;
  for (const text of texts) {
    const m = SLASHED.exec(text.trim());
    if (!m) continue;
    if (Number(m[1]) > 12) dayFirst = true;
    if (Number(m[2]) > 12) monthFirst = true;
  }
  return dayFirst === monthFirst ? undefined : dayFirst;
}
