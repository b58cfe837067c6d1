import { formatValue } from '../../grid/format.ts';
import type { Range } from './a1.ts';
import { type Look, styleOf, textPixels } from './look.ts';
import { cellOf, type Sheet } from './spec.ts';

/** A text over empty cells beside its own, as programs draw it where a column is too narrow. */
export interface Spill extends Range {
  /** The column whose text it is. */
  owner: number;
}

/**
 * The texts of a row that go on beside their cells. Cells in `kept` do neither give nor take: those of tables stand for themselves, so
 * that each can be chosen.
 */
export function findSpills(sheet: Sheet & Look, row: number, widths: number[], kept: Range[]): Spill[] {
  const { range, merges } = sheet;
  const inRow = [...merges, ...kept].filter(({ top, bottom }) => row >= top && row <= bottom);
  const isKept = (column: number) => inRow.some(({ left, right }) => column >= left && column <= right);
  const isEmpty = (column: number) => formatValue(cellOf(sheet, column, row)) === '' && !isKept(column);
  const found: Spill[] = [];
  for (let owner = range.left; owner <= range.right; owner += 1) {
    const value = cellOf(sheet, owner, row);
    if (typeof value !== 'string' || value === '' || value.includes('\n') || isKept(owner)) continue;
    const { align = null, bold = false, fill = null } = styleOf(sheet, owner, row) ?? {};
    const step = align === 'right' ? -1 : align === 'center' ? 0 : 1;
    const isFree = (column: number) => isEmpty(column) && (styleOf(sheet, column, row)?.fill ?? null) === fill;
    let [last, room] = [owner, widths[owner - 1] ?? 0];
    const wanted = textPixels(value) * (bold ? 1.08 : 1) + 18;
    while (step !== 0 && room < wanted && last + step >= range.left && last + step <= range.right && isFree(last + step)) {
      last += step;
      room += widths[last - 1] ?? 0;
    }
    if (last !== owner) found.push({ left: Math.min(owner, last), right: Math.max(owner, last), top: row, bottom: row, owner });
  }
  return found;
}
