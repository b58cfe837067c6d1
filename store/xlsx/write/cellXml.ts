import type { ColumnType } from '../../../core/cells/columnTypes.ts';
import { isFormulaLike } from '../../../core/cells/csvText.ts';
import type { CellStyles } from './cellLooks.ts';
import { dateSerial, timeSerial, timestampSerial } from './serials.ts';
import type { XmlBuffer } from './xmlBuffer.ts';

/** Numbers with more digits would lose some in Excel. */
const mostDigits = 15;
/** Excel's limit for a cell, in UTF-16 units. */
const longestText = 32_767;

/** A text that no cell of a workbook can hold. */
export class TextTooLong extends Error {
  constructor(readonly ref: string) {
    super(`the text of ${ref} is longer than a cell can hold`);
  }
}

/** The types of cells. `RAW`: texts as a sheet showed them, among them numbers. */
export type CellKind = ColumnType['kind'] | 'RAW';

/** What is the same for all cells of a column, with the pieces that stand before and after the number of the row. */
export interface CellForm {
  kind: CellKind;
  letters: string;
  styles: CellStyles;
  open: string;
  number: string;
  fineNumber: string;
}

export function makeForm(kind: CellKind, letters: string, styles: CellStyles): CellForm {
  const number = (style: number) => `" s="${style}"><v>`;
  return { kind, letters, styles, open: `<c r="${letters}`, number: number(styles.plain), fineNumber: number(styles.fine) };
}

/** As a sheet shows a number that it does not format. */
const plainNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/;

/** Writes a cell with a value, given as canonical text. What Excel's numbers and dates cannot hold exactly becomes a text. */
export function putCell(out: XmlBuffer, form: CellForm, row: string, text: string): void {
  const { kind, styles } = form;
  switch (kind) {
    case 'BIGINT':
    case 'DECIMAL':
      if (isExact(text)) putNumber(out, form, row, form.number, text);
      else putText(out, form, row, styles.text, text);
      break;
    case 'DOUBLE':
      // NaN and infinities are nothing in every format.
      if (isNumeric(text)) putNumber(out, form, row, form.number, text);
      else putEmpty(out, form, row);
      break;
    case 'BOOLEAN':
      putOpen(out, form, row, styles.plain);
      out.put(text === 'true' ? ' t="b"><v>1</v></c>' : ' t="b"><v>0</v></c>');
      break;
    case 'DATE':
      putSerial(out, form, row, text, dateSerial(text));
      break;
    case 'TIMESTAMP':
      putSerial(out, form, row, text, timestampSerial(text));
      break;
    case 'TIME':
      putSerial(out, form, row, text, timeSerial(text));
      break;
    default:
      if (kind === 'RAW' && plainNumber.test(text) && isExact(text)) putNumber(out, form, row, form.number, text);
      else putText(out, form, row, isFormulaLike(text) ? styles.quoted : styles.plain, text);
  }
}

/** Writes a cell with a formula and the value that it gave. */
export function putFormula(out: XmlBuffer, form: CellForm, row: string, text: string | null, formula: string): void {
  const value = text === null ? null : readNumber(form.kind, text);
  const isText = text !== null && value === null;
  putOpen(out, form, row, form.styles.plain);
  out.put(isText ? ' t="str"><f>' : form.kind === 'BOOLEAN' && text !== null ? ' t="b"><f>' : '><f>');
  out.putText(formula);
  out.put('</f>');
  if (text !== null) {
    out.put('<v>');
    out.putText(value ?? text);
    out.put('</v>');
  }
  out.put('</c>');
}

export function putEmpty(out: XmlBuffer, form: CellForm, row: string): void {
  putOpen(out, form, row, form.styles.plain);
  out.put('/>');
}

export function putText(out: XmlBuffer, form: CellForm, row: string, style: number, text: string): void {
  if (text.length > longestText) throw new TextTooLong(form.letters + row);
  putOpen(out, form, row, style);
  // Programs drop the white space around a text unless it says that they must not.
  const isKept = isBlank(text.charCodeAt(0)) || isBlank(text.charCodeAt(text.length - 1));
  out.put(isKept ? ' t="inlineStr"><is><t xml:space="preserve">' : ' t="inlineStr"><is><t>');
  out.putText(text);
  out.put('</t></is></c>');
}

function putOpen(out: XmlBuffer, { open }: CellForm, row: string, style: number): void {
  out.put(open);
  out.put(row);
  out.put(styleOf(style));
}

/** Few styles are used, in many cells. */
const styleTexts: string[] = [];

function styleOf(style: number): string {
  styleTexts[style] ??= `" s="${style}"`;
  return styleTexts[style] as string;
}

function putNumber(out: XmlBuffer, { open }: CellForm, row: string, style: string, number: string): void {
  out.put(open);
  out.put(row);
  out.put(style);
  out.put(number);
  out.put('</v></c>');
}

function putSerial(out: XmlBuffer, form: CellForm, row: string, text: string, serial: number | null): void {
  const { styles } = form;
  if (serial === null) putText(out, form, row, styles.text, text);
  else putNumber(out, form, row, text.includes('.') ? form.fineNumber : form.number, String(serial));
}

/** A value as the number that a cell holds; null if only a text can hold it. */
function readNumber(kind: CellKind, text: string): string | null {
  const serials: Partial<Record<CellKind, (text: string) => number | null>> = {
    DATE: dateSerial,
    TIMESTAMP: timestampSerial,
    TIME: timeSerial,
  };
  const serial = serials[kind]?.(text);
  if (serial !== undefined) return serial === null ? null : String(serial);
  if (kind === 'BOOLEAN') return text === 'true' ? '1' : '0';
  if (kind === 'DOUBLE') return isNumeric(text) ? text : null;
  const isNumber = kind === 'BIGINT' || kind === 'DECIMAL' || (kind === 'RAW' && plainNumber.test(text));
  return isNumber && isExact(text) ? text : null;
}

function isBlank(code: number): boolean {
  return code <= 0x20 || code === 0xa0 || code === 0x3000 || (code >= 0x2000 && code <= 0x200b);
}

function isNumeric(text: string): boolean {
  const code = text.charCodeAt(text.startsWith('-') ? 1 : 0);
  return code >= 0x30 && code <= 0x39;
}

function isExact(text: string): boolean {
  return text.length <= mostDigits || text.replace(/^-?[0.]*|\./g, '').length <= mostDigits;
}
