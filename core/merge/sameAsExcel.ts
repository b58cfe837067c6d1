import { sameValue } from '../cells/castValue.ts';
import type { ColumnType } from '../cells/columnTypes.ts';
import { parseDateText } from '../types/date.ts';
import { parseNumberText } from '../types/number.ts';
import type { FileCell } from './fileCell.ts';
import { type Moment, readMoment, toSerial } from './moments.ts';

/**
 * Whether a cell of a returned file holds what a spreadsheet program makes of a stored value when nobody edits it: it keeps 15
 * digits, takes texts that look like numbers or dates for such, and writes csv files as it shows the cells.
 */
export function sameAsExcel(type: ColumnType, stored: string | null, cell: FileCell | null): boolean {
  if (cell === null) return stored === null || isWrittenBlank(type, stored);
  if (cell.fits && sameValue(type, stored, cell.text)) return true;
  if (stored === null) return cell.text.trim() === '';
  switch (type.kind) {
    case 'VARCHAR':
    case 'JSON':
      return sameText(stored, cell);
    case 'BIGINT':
    case 'DECIMAL':
    case 'DOUBLE':
      return isNumeric(cell) && sameNumber(Number(stored), stored, cell);
    case 'DATE':
    case 'TIMESTAMP':
    case 'TIME':
      return sameMoment(stored, cell);
    case 'BOOLEAN':
      return false;
  }
}

/** Nothing is written for an empty text, nor for numbers that no file holds. */
function isWrittenBlank(type: ColumnType, stored: string): boolean {
  return type.kind === 'DOUBLE' ? !Number.isFinite(Number(stored)) : stored.trim() === '';
}

function sameText(stored: string, cell: FileCell): boolean {
  if (tidy(stored) === tidy(cell.text)) return true;
  if (cell.kind === 'loose' && tidy(stored) === tidy(`'${cell.text}`)) return true;
  const isLoose = cell.kind === 'loose';
  if (isLoose || cell.kind === 'boolean') {
    const word = stored.trim().toLowerCase();
    if ((word === 'true' || word === 'false') && word === cell.text.trim().toLowerCase()) return true;
  }
  if (isLoose || cell.kind === 'number') {
    const number = looksLikeNumber(stored) ? parseNumberText(stored) : null;
    if (number && looksLikeNumber(cell.text) && sameNumber(number.value, stored, cell)) return true;
  }
  if (isLoose || cell.kind === 'date' || cell.kind === 'number') {
    const moments = readDates(stored);
    return moments.some((moment) => sameMoment(moment, cell));
  }
  return false;
}

/** Line ends differ by program; blanks at the end are dropped by some. */
function tidy(text: string): string {
  return text
    .replace(/_x000D_(?=\r?\n|$)/gi, '')
    .replace(/\r\n?/g, '\n')
    .trimEnd();
}

/** What a spreadsheet takes for a number when it is typed: digits with signs, separators, a currency, a percent sign. */
function looksLikeNumber(text: string): boolean {
  return (
    text.length <= 40 && /^\s*\(?[+-]?[¥\\$€£]?\d[\d,]*(\.\d*)?(e[+-]?\d+)?%?\)?\s*$/i.test(text.normalize('NFKC').replace(/^\./, '0.'))
  );
}

function isNumeric(cell: FileCell): boolean {
  return (cell.kind === 'number' || cell.kind === 'loose' || cell.kind === 'text') && looksLikeNumber(cell.text);
}

function numberOf(cell: FileCell): number {
  return parseNumberText(cell.text)?.value ?? Number(cell.text);
}

function sameNumber(stored: number, text: string, cell: FileCell): boolean {
  const given = numberOf(cell);
  if (stored === given) return true;
  if (!Number.isFinite(stored) || !Number.isFinite(given)) return false;
  // No program keeps fewer than three digits.
  if (Math.abs(stored - given) > Math.abs(stored) / 100) return false;
  if (stored.toPrecision(15) === given.toPrecision(15) || cutDigits(text) === given) return true;
  const shown = cell.kind === 'loose' ? shownDigits(cell.text) : null;
  return shown !== null && Number(stored.toPrecision(shown)) === given;
}

/** A number as Excel takes it when it is typed: digits after the fifteenth become zeros, without rounding. */
function cutDigits(text: string): number | null {
  let digits = 0;
  const [mantissa = '', exponent] = text.toLowerCase().split('e');
  const cut = mantissa.replace(/\d/g, (digit) => {
    if (digits > 0 || digit !== '0') digits += 1;
    return digits > 15 ? '0' : digit;
  });
  return digits > 15 ? (parseNumberText(exponent === undefined ? cut : `${cut}e${exponent}`)?.value ?? null) : null;
}

/** The digits that a csv file kept of a longer number: a cell shows ten or more, or six before an exponent. Null: not shortened. */
function shownDigits(text: string): number | null {
  const [mantissa = '', exponent] = text.trim().toLowerCase().split('e');
  const digits = mantissa.replace(/[^\d]/g, '').replace(/^0+/, '').length;
  return digits >= (exponent === undefined ? 9 : 3) ? digits : null;
}

/** The dates that a text can mean, as canonical text. */
function readDates(text: string): string[] {
  const found = [parseDateText(text), parseDateText(text, true), parseDateText(text, false)];
  const isoTexts = found.flatMap((date) => (date ? [date.iso.replace('T', ' ')] : []));
  const time = /^\s*(\d{1,2}):(\d{2})(?::(\d{2}))?\s*$/.exec(text);
  if (time) isoTexts.push(`${time[1]?.padStart(2, '0')}:${time[2]}:${time[3] ?? '00'}`);
  return [...new Set(isoTexts)];
}

const secondMs = 1000;
const minuteMs = 60_000;

function sameMoment(stored: string, cell: FileCell): boolean {
  const moment = readMoment(stored);
  if (!moment) return false;
  if (cell.kind === 'number') {
    const serial = toSerial(moment);
    // Half a millisecond, as a part of a day.
    return serial !== null && Math.abs(serial - Number(cell.text)) < 6e-9;
  }
  return readDates(cell.text)
    .concat(cell.text)
    .some((text) => {
      const given = readMoment(text);
      if (!given || given.hasDay !== moment.hasDay) return given !== null && isNextMidnight(moment, given);
      const apart = Math.abs(given.ms - moment.ms);
      if (apart < 1) return true;
      // Files keep milliseconds, or only seconds; a csv file often only minutes.
      if (given.ms % secondMs === 0 && moment.ms % secondMs !== 0 && apart < secondMs) return true;
      return cell.kind === 'loose' && given.ms % minuteMs === 0 && Math.floor(moment.ms / minuteMs) * minuteMs === given.ms;
    });
}

/** The last part of a second before midnight is the next day in a file that keeps milliseconds. A time of day has day 0 in Excel. */
function isNextMidnight(moment: Moment, given: Moment): boolean {
  return !moment.hasDay && given.hasDay && toSerial(given) === 1 && 24 * 60 * minuteMs - moment.ms < secondMs;
}
