import { type GridCell, GridCellKind, type Theme } from '@glideapps/glide-data-grid';
import { formatValue } from './format.ts';

/** How values of the tables are shown in cells, and how what is typed becomes a value. */

const isNumeric = (type: string) => /^(BIGINT|DOUBLE|DECIMAL|INTEGER|HUGEINT|FLOAT|SMALLINT|TINYINT|UBIGINT)/i.test(type);

interface CellOptions {
  isEditable: boolean;
  isMasked?: boolean;
  theme?: Partial<Theme>;
}

export function toCell(value: unknown, type: string, { isEditable, isMasked, theme }: CellOptions): GridCell {
  const common = { allowOverlay: isEditable, readonly: !isEditable, ...(theme ? { themeOverride: theme } : {}) };
  if (isMasked) return { kind: GridCellKind.Protected, allowOverlay: false, ...(theme ? { themeOverride: theme } : {}) };
  const text = formatValue(value);
  return {
    kind: GridCellKind.Text,
    data: text,
    displayData: text,
    contentAlign: isNumeric(type) ? 'right' : 'left',
    ...common,
  };
}

/** What somebody typed or pasted, as the contract takes it. Nothing is NULL. Whether it fits, the service says. */
export function parseValue(text: string, type: string): unknown {
  const trimmed = text.trim();
  if (/^(VARCHAR|TEXT)/i.test(type)) return text === '' ? null : text;
  if (trimmed === '') return null;
  if (/^BOOLEAN/i.test(type)) return /^(true|1|yes|はい)$/i.test(trimmed) ? true : /^(false|0|no|いいえ)$/i.test(trimmed) ? false : trimmed;
  if (isNumeric(type)) return trimmed.normalize('NFKC').replace(/(?<=\d),(?=\d{3})/g, '');
  return trimmed;
}

export const emptyCell: GridCell = { kind: GridCellKind.Loading, allowOverlay: false, skeletonWidth: 60, skeletonWidthVariability: 40 };

/** A width that fits the name and a few of the values. */
export function guessWidth(name: string, values: unknown[]): number {
  const widthOf = (text: string) => [...text.slice(0, 60)].reduce((sum, each) => sum + (each.charCodeAt(0) > 0x2e7f ? 14 : 8), 0);
  const widest = Math.max(widthOf(name) + 44, ...values.slice(0, 40).map((value) => widthOf(formatValue(value)) + 20));
  return Math.min(Math.max(widest, 72), 320);
}
