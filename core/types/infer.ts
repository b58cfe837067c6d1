/** From the cells of one column to the narrowest type that every value fits. */

import type { ColumnType } from '../cells/columnTypes.ts';
import { formatNumber } from '../grid/format/formatCell.ts';
import { parsePeriod } from '../period/period.ts';
import { detectDayFirst, parseDateText } from './date.ts';
import { detectDecimalMark } from './decimalComma.ts';
import { isNullMark, parseNumberText } from './number.ts';

/** The types that can be inferred from cells; the other column types are used only when somebody asks for them. */
export type InferredType = Exclude<ColumnType['kind'], 'DECIMAL' | 'TIME' | 'JSON'>;

export type CellValue =
  | { kind: 'text'; text: string }
  | { kind: 'number'; number: number; numberFormat: string }
  | { kind: 'boolean'; boolean: boolean }
  | { kind: 'date'; iso: string; hasTime: boolean; timeOnly: boolean }
  | { kind: 'error'; text: string };

export type StoredValue = string | number | boolean | null;

/** How the texts of a column are to be read, where they could be read in several ways. */
export interface Reading {
  /** `3/4/2024` is the third of April. */
  dayFirst?: boolean;
  /** `1.234,50` is a number, and `1.234` a whole one. */
  decimalComma?: boolean;
}

export interface InferredColumn extends Reading {
  type: InferredType;
  /** All that was written with a point or comma could be read either way: `1.234` as 1.234, as is usual, or as 1234. */
  openMark?: boolean;
}

interface Fits {
  integer: boolean;
  number: boolean;
  boolean: boolean;
  date: boolean;
  timestamp: boolean;
}

/** Beyond this a double does not hold every integer, and a BIGINT would show digits that were not in the sheet. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;

/** `hint` says how to read what could be read in several ways; what the values themselves say comes first. */
export function inferColumn(values: Iterable<CellValue | null>, hint: Reading = {}): InferredColumn {
  const texts: string[] = [];
  const kept: CellValue[] = [];
  for (const value of values) {
    if (value === null) continue;
    if (value.kind === 'text') {
      if (texts.length < FIRST_TEXTS && isTextAnyway(value)) return { type: 'VARCHAR' };
      texts.push(value.text);
    }
    kept.push(value);
  }
  const dayFirst = detectDayFirst(texts);
  const mark = detectDecimalMark(texts);
  const decimalComma = mark === 'comma' || (mark !== 'point' && hint.decimalComma === true);
  const fits: Fits = { integer: true, number: true, boolean: true, date: true, timestamp: true };
  let real = 0;
  for (const value of kept) {
    if (value.kind === 'error') continue;
    if (value.kind === 'text' && isNullMark(value.text)) continue;
    real += 1;
    narrow(fits, value, { dayFirst, decimalComma });
    if (!fits.number && !fits.boolean && !fits.timestamp) break;
  }
  if (real === 0) return { type: 'VARCHAR' };
  const base: Omit<InferredColumn, 'type'> = dayFirst === undefined ? {} : { dayFirst };
  const figures = decimalComma ? { decimalComma } : mark === 'open' ? { openMark: true } : {};
  if (fits.boolean) return { type: 'BOOLEAN', ...base };
  if (fits.integer) return { type: 'BIGINT', ...base, ...figures };
  if (fits.number) return { type: 'DOUBLE', ...base, ...figures };
  if (fits.date) return { type: 'DATE', ...base };
  if (fits.timestamp) return { type: 'TIMESTAMP', ...base };
  return { type: 'VARCHAR' };
}

/** Texts looked at before the others: in a column of texts the first one tells. */
const FIRST_TEXTS = 8;
const READINGS: Reading[] = [true, false].flatMap((dayFirst) => [true, false].map((decimalComma) => ({ dayFirst, decimalComma })));

/** A text in whatever company, and however the numbers and dates of the column are written. */
function isTextAnyway(value: CellValue & { kind: 'text' }): boolean {
  if (isNullMark(value.text)) return false;
  return [{}, ...READINGS].every((reading) => {
    const fits: Fits = { integer: true, number: true, boolean: true, date: true, timestamp: true };
    narrow(fits, value, reading);
    return !fits.number && !fits.boolean && !fits.timestamp;
  });
}

function narrow(fits: Fits, value: CellValue, { dayFirst, decimalComma }: Reading): void {
  switch (value.kind) {
    case 'number':
      fits.boolean = fits.date = fits.timestamp = false;
      if (!Number.isInteger(value.number) || Math.abs(value.number) > MAX_EXACT) fits.integer = false;
      return;
    case 'boolean':
      fits.integer = fits.number = fits.date = fits.timestamp = false;
      return;
    case 'date':
      fits.integer = fits.number = fits.boolean = false;
      if (value.timeOnly) fits.date = fits.timestamp = false;
      if (value.hasTime) fits.date = false;
      return;
    case 'text': {
      if (truthOf(value.text) === null) fits.boolean = false;
      const number = parseNumberText(value.text, decimalComma);
      if (!number || number.leadingZero) fits.integer = fits.number = false;
      else if (!Number.isInteger(number.value) || Math.abs(number.value) > MAX_EXACT || number.percent) fits.integer = false;
      const date = fits.timestamp ? dateOfText(value.text, dayFirst) : null;
      if (!date) fits.date = fits.timestamp = false;
      else if (date.hasTime) fits.date = false;
      return;
    }
    case 'error':
  }
}

/** `TRUE` and `FALSE` as spreadsheets write them into text files, in any case. */
function truthOf(text: string): boolean | null {
  const word = text.length <= 7 ? text.trim().toLowerCase() : '';
  return word === 'true' ? true : word === 'false' ? false : null;
}

/** Days, and months by their first day; years and quarters are too coarse to call a date. */
function dateOfText(text: string, dayFirst: boolean | undefined): { iso: string; hasTime: boolean } | null {
  const date = parseDateText(text, dayFirst);
  if (date) return date;
  if (!/[年月/\-.A-Za-z]/.test(text)) return null;
  const period = parsePeriod(text);
  return period?.kind === 'month' && period.start !== null ? { iso: period.start, hasTime: false } : null;
}

/** Excel stores and shows no more. */
const EXCEL_DIGITS = 15;

/**
 * A number among texts keeps the digits that are stored, not those that its format shows: 10.0% is 0.1. Formats that write more
 * than a number (`第0回`, `00000`) are part of the text.
 */
function textOf(value: CellValue): string {
  const shown = showValue(value);
  if (value.kind !== 'number' || !/^[-+(¥$€£\s]*\d[\d,]*(?:\.\d+)?\s*%?[)\s]*$/.test(shown)) return shown;
  return /^\D*0\d/.test(shown) ? shown : String(Number(value.number.toPrecision(EXCEL_DIGITS)));
}

/** The value as it lands in a column of this type. */
export function convertValue(value: CellValue | null, column: InferredColumn): StoredValue {
  if (value === null) return null;
  switch (column.type) {
    case 'VARCHAR':
      return textOf(value);
    case 'BOOLEAN':
      return value.kind === 'boolean' ? value.boolean : value.kind === 'text' ? truthOf(value.text) : null;
    case 'BIGINT':
    case 'DOUBLE':
      if (value.kind === 'number') return value.number;
      return value.kind === 'text' && !isNullMark(value.text) ? (parseNumberText(value.text, column.decimalComma)?.value ?? null) : null;
    case 'DATE':
    case 'TIMESTAMP': {
      const iso = value.kind === 'date' ? value.iso : value.kind === 'text' ? (dateOfText(value.text, column.dayFirst)?.iso ?? null) : null;
      if (iso === null) return null;
      return column.type === 'DATE' ? iso.slice(0, 10) : iso.length === 10 ? `${iso}T00:00:00` : iso;
    }
  }
}

export function showValue(value: CellValue): string {
  switch (value.kind) {
    case 'text':
    case 'error':
      return value.text;
    case 'number':
      return formatNumber(value.number, value.numberFormat);
    case 'boolean':
      return value.boolean ? 'TRUE' : 'FALSE';
    case 'date':
      return value.timeOnly ? value.iso.slice(11) : value.hasTime ? value.iso.replace('T', ' ') : value.iso.slice(0, 10);
  }
}
