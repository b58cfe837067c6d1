/** The month that the lines above a table name, for tables whose columns are the days of it. */

import type { Range } from '../../grid/grid.ts';
import { type Period, parsePeriod } from '../../period/period.ts';
import type { HeaderColumn } from '../headers/columnNames.ts';
import { readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { MIN_DAYS, MONTH_LINES } from '../thresholds.ts';
import { WEEKDAY } from './periods.ts';

const DAY = /^(\d{1,2})日?$/;

const SHORTEST_MONTH = 28;

/** `2024年7月`, `令和6年7月度`, `July 2024`, wherever it stands in a line. */
const MONTH_IN_TEXT =
  /((?:\d{4}|(?:令和|平成|R|H)\s?(?:\d{1,2}|元))\s?年\s?\d{1,2}\s?月)(?!\s?\d{1,2}\s?日)|(?<![\d/.-])(\d{4}[/.-]\d{1,2})(?![\d/.-])|\b((?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?[ ,'-]+\d{4})\b/i;
const YEAR_FIELD = /(?:\byear|年度?)\s?[:：]?\s?(\d{4})(?!\d)|(?<!\d)(\d{4})\s?年/i;
const MONTH_FIELD = /(?:\bmonth|月度?)\s?[:：]?\s?(\d{1,2}|[a-z]{3,9})(?![\w日])|(?<!\d)(\d{1,2})\s?月/i;

/** Numbers that count on to the end of a month, or with the days of the week beside them. Up to 20 they may be questions of a survey. */
export function areDays(columns: HeaderColumn[]): boolean {
  let last = 0;
  let days = 0;
  let weekdays = 0;
  for (const { parts } of columns) {
    const day = Number(parts.map((part) => DAY.exec(part)?.[1]).find((found) => found !== undefined) ?? 0);
    if (day === 0) continue;
    if (day <= last || day > 31) return false;
    last = day;
    days += 1;
    if (parts.some((part) => WEEKDAY.test(part))) weekdays += 1;
  }
  return days >= MIN_DAYS && (last >= SHORTEST_MONTH || weekdays === days);
}

/** The nearest one, in one text, in cells side by side (`2024 | 年 | 7 | 月`) or as a year and a month that are named so. */
export function findMonthAbove(view: SheetView, { top, left, right }: Range): Period | null {
  const lines = readLines(view, { top: Math.max(1, top - MONTH_LINES), bottom: top - 1, left, right });
  let year: string | null = null;
  let month: string | null = null;
  for (const line of lines.reverse()) {
    let text = '';
    for (let i = line.from; i < line.to; i += 1) text += ` ${view.label(i)}`;
    const plain = text.normalize('NFKC');
    const whole = MONTH_IN_TEXT.exec(plain);
    const found = whole && parsePeriod((whole[1] ?? whole[2] ?? whole[3])!.replace(/\s(?=[年月\d])/g, (blank) => (whole[3] ? blank : '')));
    if (found?.kind === 'month' && found.start !== null) return found;
    const [ownYear, ownMonth] = [YEAR_FIELD.exec(plain), MONTH_FIELD.exec(plain)];
    year ??= ownYear ? (ownYear[1] ?? ownYear[2])! : null;
    month ??= ownMonth ? (ownMonth[1] ?? ownMonth[2])! : null;
  }
  if (year === null || month === null) return null;
  const named = parsePeriod(/^\d/.test(month) ? `${year}年${month}月` : `${month} ${year}`);
  return named?.kind === 'month' && named.start !== null ? named : null;
}
