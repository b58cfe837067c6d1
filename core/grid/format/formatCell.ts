/** A cell's value as Excel shows it in a column that is wide enough. */

import { CellKind, type Grid } from '../grid.ts';
import { formatGeneral } from './decimal.ts';
import { renderDate } from './formatDate.ts';
import { renderNumber } from './formatNumber.ts';
import { type FormatSection, type ParsedFormat, parseFormat } from './parseFormat.ts';

export function formatCell(grid: Grid, index: number): string {
  const text = grid.strings[grid.texts[index] ?? -1] ?? '';
  const format = grid.styles[grid.styleIds[index] ?? -1]?.numberFormat ?? 'General';
  return formatValue(grid.kinds[index] as CellKind, grid.numbers[index] ?? 0, text, format);
}

/** The same for a value that is in no grid, such as one of a RowBatch. */
export function formatValue(kind: CellKind, number: number, text: string, numberFormat: string): string {
  switch (kind) {
    case CellKind.text:
      return numberFormat === 'General' || numberFormat === '@' ? text : formatText(text, numberFormat);
    case CellKind.number:
      return formatNumber(number, numberFormat);
    case CellKind.date:
      return formatDate(number, numberFormat);
    case CellKind.boolean:
      return number ? 'TRUE' : 'FALSE';
    default:
      return text;
  }
}

function formatText(text: string, numberFormat: string): string {
  const section = parseFormat(numberFormat).text;
  if (!section) return text;
  return section.tokens.map((token) => (token.type === 'text' ? text : token.type === 'literal' ? token.text : '')).join('');
}

export function formatNumber(value: number, numberFormat: string): string {
  if (numberFormat === 'General' || numberFormat === '') return formatGeneral(value);
  const format = parseFormat(numberFormat);
  const chosen = chooseSection(format, value);
  if (!chosen) return formatGeneral(value);
  const { section, unsigned } = chosen;
  // A number that is no date (a negative one) with a date format: Excel shows only #, so show the number instead.
  if (section.kind === 'date') return formatGeneral(value);
  const sign = value < 0 && !unsigned ? '-' : '';
  return `${sign}${renderNumber(section, Math.abs(value)).trim()}`;
}

/** `ms` as a Grid keeps dates: milliseconds since 1970, wall clock. */
function formatDate(ms: number, numberFormat: string): string {
  for (const section of parseFormat(numberFormat).numeric) if (section.kind === 'date') return renderDate(section, ms).trim();
  // Strict workbooks store dates as such, so the format need not be a date format.
  return formatDate(ms, 'yyyy-mm-dd hh:mm:ss');
}

/** `unsigned`: the section is for negative numbers only, so no minus sign is added. */
function chooseSection(format: ParsedFormat, value: number): { section: FormatSection; unsigned: boolean } | null {
  const { numeric } = format;
  const [first, second, third] = numeric;
  if (!first) return null;
  if (numeric.some((section) => section.condition)) return chooseByCondition(first, numeric, value);
  if (!second) return { section: first, unsigned: false };
  if (value < 0) return { section: second, unsigned: true };
  return { section: value === 0 && third ? third : first, unsigned: false };
}

function chooseByCondition(first: FormatSection, numeric: FormatSection[], value: number): { section: FormatSection; unsigned: boolean } {
  const found = numeric.findIndex((section, i) => meets(section, value, i, numeric.length));
  const section = numeric[found] ?? first;
  const bound = section.condition;
  const negativeOnly = bound
    ? bound.value <= 0 && bound.operator.startsWith('<') && bound.operator !== '<>'
    : numeric.length === 2 && found === 1 && first.condition?.value === 0;
  return { section, unsigned: negativeOnly };
}

function meets(section: FormatSection, value: number, position: number, count: number): boolean {
  const { condition } = section;
  // Without a condition: the last takes the rest, a second of three the negative numbers.
  if (!condition) return position === count - 1 || (position === 0 ? value > 0 : value < 0);
  switch (condition.operator) {
    case '<':
      return value < condition.value;
    case '<=':
      return value <= condition.value;
    case '>':
      return value > condition.value;
    case '>=':
      return value >= condition.value;
    case '=':
      return value === condition.value;
    default:
      return value !== condition.value;
  }
}
