import type { ColumnType } from '../../../core/cells/columnTypes.ts';
import { isFormulaLike } from '../../../core/cells/csvText.ts';
import type { CellStyles } from './cellLooks.ts';
import { dateSerial, timeSerial, timestampSerial } from './serials.ts';
import { escapeXml, textElement } from './xmlText.ts';

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

/** As a sheet shows a number that it does not format. */
const plainNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/;

/** A cell with a value, given as canonical text. What Excel's numbers and dates cannot hold exactly becomes a text. */
export function cellXml(kind: CellKind, ref: string, text: string, styles: CellStyles): string {
  switch (kind) {
    case 'BIGINT':
    case 'DECIMAL':
      return isExact(text) ? numberCell(ref, styles.plain, text) : textCell(ref, styles.text, text);
    case 'DOUBLE':
      // NaN and infinities are nothing in every format.
      return /^-?[0-9.]/.test(text) ? numberCell(ref, styles.plain, text) : '';
    case 'BOOLEAN':
      return `<c r="${ref}" s="${styles.plain}" t="b"><v>${text === 'true' ? 1 : 0}</v></c>`;
    case 'DATE':
      return serialCell(ref, styles, text, dateSerial(text));
    case 'TIMESTAMP':
      return serialCell(ref, styles, text, timestampSerial(text));
    case 'TIME':
      return serialCell(ref, styles, text, timeSerial(text));
    case 'RAW':
      if (plainNumber.test(text) && isExact(text)) return numberCell(ref, styles.plain, text);
      return textCell(ref, isFormulaLike(text) ? styles.quoted : styles.plain, text);
    default:
      return textCell(ref, isFormulaLike(text) ? styles.quoted : styles.plain, text);
  }
}

/** The same with the formula that gave the value. */
export function formulaXml(kind: CellKind, ref: string, text: string | null, formula: string, styles: CellStyles): string {
  const cell = text === null ? '' : cellXml(kind, ref, text, styles);
  const written = `<f>${escapeXml(formula)}</f>`;
  if (cell === '') return `<c r="${ref}" s="${styles.plain}">${written}</c>`;
  if (!cell.includes(' t="inlineStr"')) return cell.replace('><v>', `>${written}<v>`);
  return `<c r="${ref}" s="${styles.plain}" t="str">${written}<v>${escapeXml(text ?? '')}</v></c>`;
}

export function textCell(ref: string, style: number, text: string): string {
  if (text.length > longestText) throw new TextTooLong(ref);
  return `<c r="${ref}" s="${style}" t="inlineStr"><is>${textElement(text)}</is></c>`;
}

function numberCell(ref: string, style: number, text: string): string {
  return `<c r="${ref}" s="${style}"><v>${text}</v></c>`;
}

function serialCell(ref: string, styles: CellStyles, text: string, serial: number | null): string {
  if (serial === null) return textCell(ref, styles.text, text);
  return numberCell(ref, text.includes('.') ? styles.fine : styles.plain, String(serial));
}

function isExact(text: string): boolean {
  return text.length <= mostDigits || text.replace(/^-?[0.]*|\./g, '').length <= mostDigits;
}
