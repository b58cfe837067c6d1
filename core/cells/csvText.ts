import { cellJson } from './cellJson.ts';
import type { ColumnType } from './columnTypes.ts';

/** Types whose canonical text is what CSV has. */
export const asTheyAre: ReadonlySet<ColumnType['kind']> = new Set<ColumnType['kind']>(['VARCHAR', 'BIGINT', 'DECIMAL', 'BOOLEAN', 'DATE']);

/** A cell of CSV: the text of its JSON without the quotes. Nothing for null. */
export function csvCell(type: ColumnType, text: string | null): string | null {
  // Of most types the text is what JSON says, too; writing and reading that would take most of the time.
  if (text === null || asTheyAre.has(type.kind)) return text;
  const json = cellJson(type, text);
  if (type.kind === 'JSON') return json;
  return json === 'null' ? null : json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** A line of CSV, quoted where it must be (RFC 4180); an empty text is `""`, as nothing is null. */
export function writeCsvLine(cells: (string | null)[]): string {
  return `${cells.map((cell) => (cell === null ? '' : quoteCsv(cell))).join(',')}\n`;
}

function quoteCsv(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Programs for spreadsheets run a text that begins so. */
export function isFormulaLike(text: string): boolean {
  return startsFormula(text.charCodeAt(0));
}

export function startsFormula(code: number): boolean {
  switch (code) {
    case 0x09: // tab
    case 0x0a:
    case 0x0d:
    case 0x2b: // +
    case 0x2d: // -
    case 0x3d: // =
    case 0x40: // @
      return true;
    default:
      return false;
  }
}

/** A text that no program for spreadsheets runs. */
export function guardText(text: string): string {
  return isFormulaLike(text) ? `'${text}` : text;
}
