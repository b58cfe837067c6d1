/** Casts a cell to a requested type, without losing anything or not at all. */

import { castValue } from '../cells/castValue.ts';
import type { ColumnType } from '../cells/columnTypes.ts';
import { deepestJson, findValueEnd } from '../cells/jsonText.ts';
import { type CellValue, convertValue, type Reading, type StoredValue, showValue } from './infer.ts';
import { isNullMark, parseNumberText } from './number.ts';

/** Undefined when the type cannot hold the value. Errors and marks for "no value" become null. */
export function castCell(value: CellValue, type: ColumnType, reading: Reading = {}): StoredValue | undefined {
  if (type.kind === 'VARCHAR') return showValue(value);
  if (value.kind === 'error' || (value.kind === 'text' && isNullMark(value.text))) return null;
  switch (type.kind) {
    case 'BIGINT':
      return asNumber(value, reading, Number.isSafeInteger) ?? asWritten(value, type, /^[+-]?\d{16,19}$/);
    case 'DOUBLE':
      return asNumber(value, reading, Number.isFinite);
    case 'DECIMAL':
      return asDecimal(value, reading, type);
    case 'BOOLEAN':
      return asBoolean(value);
    case 'DATE':
    case 'TIMESTAMP':
      return asMoment(value, type.kind, reading.dayFirst);
    case 'TIME':
      return asTime(value);
    case 'JSON':
      return asJson(value);
  }
}

function asNumber(value: CellValue, reading: Reading, isRight: (number: number) => boolean): number | undefined {
  const number = convertValue(value, { type: 'DOUBLE', decimalComma: reading.decimalComma });
  return typeof number === 'number' && isRight(number) ? number : undefined;
}

function asDecimal(value: CellValue, { decimalComma }: Reading, type: ColumnType): string | undefined {
  // A plainly written decimal keeps every digit.
  const written = value.kind === 'text' ? castText(type, decimalComma ? asPlainDecimal(value.text) : value.text) : undefined;
  if (written !== undefined) return written;
  const number =
    value.kind === 'number' ? value.number : value.kind === 'text' ? parseNumberText(value.text, decimalComma)?.value : undefined;
  // Sheets keep fifteen digits; further digits of the double are rounding noise.
  return number === undefined ? undefined : castText(type, Number(number.toPrecision(15)));
}

/** A text of this form, with every digit. */
function asWritten(value: CellValue, type: ColumnType, form: RegExp): string | undefined {
  return value.kind === 'text' && form.test(value.text) ? castText(type, value.text) : undefined;
}

/** `1.234,50` as `1234.50`; texts of another form are left to fail. */
function asPlainDecimal(text: string): string {
  return /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?$/.test(text) ? text.replaceAll('.', '').replace(',', '.') : '';
}

function asBoolean(value: CellValue): boolean | undefined {
  if (value.kind === 'boolean') return value.boolean;
  const said = value.kind === 'number' ? value.number : value.kind === 'text' ? value.text : null;
  const text = said === null ? undefined : castText({ kind: 'BOOLEAN' }, said);
  return text === undefined ? undefined : text === 'true';
}

function asMoment(value: CellValue, kind: 'DATE' | 'TIMESTAMP', dayFirst: boolean | undefined): string | undefined {
  if (value.kind === 'date' && value.timeOnly) return undefined;
  const moment = convertValue(value, { type: 'TIMESTAMP', ...(dayFirst === undefined ? {} : { dayFirst }) });
  if (typeof moment !== 'string') return undefined;
  if (kind === 'TIMESTAMP') return asWritten(value, { kind }, /:\d\d\.\d{1,6}Z?$/) ?? moment;
  return moment.endsWith('T00:00:00') ? moment.slice(0, 10) : undefined;
}

function asTime(value: CellValue): string | undefined {
  if (value.kind === 'date') return value.timeOnly ? value.iso.slice(11) : undefined;
  return value.kind === 'text' ? castText({ kind: 'TIME' }, value.text.replace(/^(\d):/, '0$1:')) : undefined;
}

function asJson(value: CellValue): string | undefined {
  if (value.kind === 'number') return String(value.number);
  if (value.kind === 'boolean') return String(value.boolean);
  if (value.kind !== 'text') return JSON.stringify(showValue(value));
  try {
    JSON.parse(value.text);
    return findValueEnd(value.text, 0, deepestJson) === null ? undefined : value.text;
  } catch {
    return undefined;
  }
}

function castText(type: ColumnType, value: string | number): string | undefined {
  const cast = castValue(type, value);
  return typeof cast === 'string' ? cast : undefined;
}
