import type { ColumnType } from '../../../core/cells/columnTypes.ts';
import { isFormulaLike, startsFormula } from '../../../core/cells/csvText.ts';
import { type ByteColumn, readByteText } from '../../../core/table/textBatch.ts';
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

/** The same for a value in UTF-8, mostly without a string for each cell. */
export function putByteCell(out: XmlBuffer, form: CellForm, row: string, column: ByteColumn, place: number): void {
  const { bytes, offsets } = column;
  const [start, end] = [offsets[place] as number, offsets[place + 1] as number];
  if (isByteNumber(form.kind, bytes, start, end)) putByteNumber(out, form, row, bytes, start, end);
  // A text of no more bytes has no more units of UTF-16, either.
  else if ((form.kind === 'VARCHAR' || form.kind === 'JSON') && end - start <= longestText) putByteText(out, form, row, bytes, start, end);
  else putCell(out, form, row, readByteText(column, place) as string);
}

function isByteNumber(kind: CellKind, bytes: Uint8Array, start: number, end: number): boolean {
  if (kind === 'DOUBLE') return isDigit(bytes[bytes[start] === minus ? start + 1 : start]);
  return (kind === 'BIGINT' || kind === 'DECIMAL') && end - start <= mostDigits;
}

function putByteNumber(out: XmlBuffer, { open, number }: CellForm, row: string, bytes: Uint8Array, start: number, end: number): void {
  out.put(open);
  out.put(row);
  out.put(number);
  out.putBytes(bytes, start, end);
  out.put('</v></c>');
}

function putByteText(out: XmlBuffer, form: CellForm, row: string, bytes: Uint8Array, start: number, end: number): void {
  const { styles } = form;
  putOpen(out, form, row, start < end && startsFormula(bytes[start] as number) ? styles.quoted : styles.plain);
  out.put(isKept(bytes, start, end) ? keptText : plainText);
  out.putTextBytes(bytes, start, end);
  out.put('</t></is></c>');
}

/** Whether a text begins or ends with white space. */
function isKept(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  const [first, last] = [bytes[start] as number, bytes[end - 1] as number];
  return first <= 0x20 || last <= 0x20 || isBlankAt(bytes, start) || isBlankAt(bytes, findLast(bytes, start, end));
}

/** Where the last character begins. */
function findLast(bytes: Uint8Array, start: number, end: number): number {
  let at = end - 1;
  while (at > start && ((bytes[at] as number) & 0xc0) === 0x80) at -= 1;
  return at;
}

/** U+00A0, U+2000 to U+200B, U+3000. */
function isBlankAt(bytes: Uint8Array, at: number): boolean {
  const [first, second, third] = [bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number];
  if (first === 0xc2) return second === 0xa0;
  if (first === 0xe2) return second === 0x80 && third <= 0x8b;
  return first === 0xe3 && second === 0x80 && third === 0x80;
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

/** Programs drop the white space around a text unless it says that they must not. */
const keptText = ' t="inlineStr"><is><t xml:space="preserve">';
const plainText = ' t="inlineStr"><is><t>';

export function putText(out: XmlBuffer, form: CellForm, row: string, style: number, text: string): void {
  if (text.length > longestText) throw new TextTooLong(form.letters + row);
  putOpen(out, form, row, style);
  out.put(isBlank(text.charCodeAt(0)) || isBlank(text.charCodeAt(text.length - 1)) ? keptText : plainText);
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

const minus = 0x2d;

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
}

function isNumeric(text: string): boolean {
  return isDigit(text.charCodeAt(text.startsWith('-') ? 1 : 0));
}

function isExact(text: string): boolean {
  return text.length <= mostDigits || text.replace(/^-?[0.]*|\./g, '').length <= mostDigits;
}
