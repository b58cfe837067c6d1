import type { components } from '../../../schema/contract.ts';
import { formatValue } from '../../grid/format.ts';
import { contains, type Range } from './a1.ts';
import { cellOf, type Sheet } from './spec.ts';

/** How the cells of a sheet look: as in the program that made it, as far as a canvas of cells can. */

export interface Look {
  merges: Range[];
  /** In characters, for the columns of the range. */
  widths: number[];
  /** In points, for the rows of the range. */
  heights: number[];
  styles: components['schemas']['PreviewStyle'][];
  styleIds: (number | null)[][];
}

/** What programs give a column that nobody has given a width. */
const usualWidth = 8.43;
/** Hidden ones stay as a line, so that it can be seen that there is something. */
const hiddenPixels = 3;

export function columnPixels(sheet: Sheet & Look, column: number): number {
  const width = sheet.widths[column - sheet.range.left] ?? usualWidth;
  if (width === 0) return hiddenPixels;
  return width === usualWidth ? guessPixels(sheet, column) : Math.min(Math.round(width * 7 + 5), 480);
}

export function rowPixels({ heights, range }: Sheet & Look, row: number): number {
  const points = heights[row - range.top] ?? 15;
  return points === 0 ? hiddenPixels : Math.min(Math.max(Math.round((points * 4) / 3), 22), 400);
}

/** About as wide as a text is drawn. */
export const textPixels = (text: string): number => [...text].reduce((sum, each) => sum + (each.charCodeAt(0) > 0x2e7f ? 13 : 7.5), 0);

/** A width that fits what is in the column. Texts of merged cells have more room than the column. */
function guessPixels(sheet: Sheet & Look, column: number): number {
  const widthOf = (text: string) => textPixels(text.slice(0, 24));
  let widest = 0;
  for (let row = sheet.range.top; row < sheet.range.top + 60; row += 1) {
    if (!findMerge(sheet, column, row)) widest = Math.max(widest, widthOf(formatValue(cellOf(sheet, column, row))));
  }
  return Math.min(Math.max(64, widest + 18), 240);
}

export const findMerge = ({ merges }: Look, column: number, row: number): Range | undefined =>
  merges.find((range) => contains(range, column, row));

export function styleOf({ styles, styleIds, range }: Sheet & Look, column: number, row: number): Look['styles'][number] | null {
  const id = styleIds[row - range.top]?.[column - range.left];
  return id === null || id === undefined ? null : (styles[id] ?? null);
}

const channels = (hex: string) => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** From 0, black, to 1, white. */
export function brightness(hex: string): number {
  const [red = 0, green = 0, blue = 0] = channels(hex);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}

/** A colour with some of another over it; both as `RRGGBB`. */
export function tint(below: string, over: string, share: number): string {
  const tops = channels(over);
  return `#${channels(below)
    .map((each, i) => Math.round(each * (1 - share) + (tops[i] ?? 0) * share))
    .map((each) => each.toString(16).padStart(2, '0'))
    .join('')}`;
}
