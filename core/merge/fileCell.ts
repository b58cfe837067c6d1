import { castValue, Refusal } from '../cells/castValue.ts';
import type { ColumnType } from '../cells/columnTypes.ts';
import { castCell } from '../types/castCell.ts';
import type { CellValue } from '../types/infer.ts';

/** What a cell of a returned file held. `loose`: a text of a csv file, which may have been a number or a date in a spreadsheet. */
export type FileCellKind = 'text' | 'number' | 'boolean' | 'date' | 'error' | 'loose';

/** A cell of a returned file, read for a column. Blank cells are null. */
export interface FileCell {
  kind: FileCellKind;
  /** The canonical text of the column's type; what stands in the file where the type cannot hold it. */
  text: string;
  fits: boolean;
}

/** Reads a cell for a column of this type. */
export function readFileCell(type: ColumnType, value: CellValue | null, isLoose = false): FileCell | null {
  if (value === null || (value.kind === 'text' && value.text.trim() === '' && type.kind !== 'VARCHAR')) return null;
  if (value.kind === 'text' && value.text === '') return null;
  const kind: FileCellKind = isLoose && value.kind === 'text' ? 'loose' : value.kind;
  const given = kind === 'loose' && value.kind === 'text' ? { ...value, text: takeGuardOff(value.text) } : value;
  const text = castText(type, given);
  return text === null ? { kind, text: plainText(given), fits: false } : { kind, text, fits: true };
}

/** Exported csv files have an apostrophe before texts that a spreadsheet would run. */
export function takeGuardOff(text: string): string {
  return /^'[=+\-@\t\r\n]/.test(text) ? text.slice(1) : text;
}

function castText(type: ColumnType, value: CellValue): string | null {
  if (value.kind === 'error') return null;
  // A number without a format keeps its digits: what is shown would be rounded.
  if (type.kind === 'VARCHAR' && value.kind === 'number' && isPlainFormat(value.numberFormat)) return String(value.number);
  const stored = castCell(value, type);
  if (stored === undefined || stored === null) return null;
  const cast = type.kind === 'JSON' ? stored : castValue(type, stored);
  return cast instanceof Refusal || cast === null ? null : String(cast);
}

function isPlainFormat(format: string): boolean {
  return /^(general|@|0|)$/i.test(format);
}

function plainText(value: CellValue): string {
  switch (value.kind) {
    case 'number':
      return String(value.number);
    case 'boolean':
      return String(value.boolean);
    case 'date':
      return value.timeOnly ? value.iso.slice(11) : value.iso.replace('T', ' ');
    default:
      return value.text;
  }
}

/** Why a cell that does not fit cannot be stored. */
export function explainUnfit(type: ColumnType, { kind, text }: FileCell): string {
  if (kind === 'error') return `is the error ${text}`;
  const cast = castValue(type, text);
  return cast instanceof Refusal ? cast.why : `is no ${type.kind} that can be kept exactly`;
}
