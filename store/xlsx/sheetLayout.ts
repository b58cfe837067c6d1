/** How wide the columns and how high the rows of a sheet are, as far as a block of it needs to know. */

import type { Range } from '../../core/grid/grid.ts';

/** What a sheet shows that says nothing: characters of the usual font, and points. */
const USUAL_WIDTH = 8.43;
const USUAL_HEIGHT = 15;

export class SheetLayout {
  readonly merges: Range[] = [];
  private readonly widths: Map<number, number> = new Map();
  private readonly heights: Map<number, number> = new Map();
  private usualWidth = USUAL_WIDTH;
  private usualHeight = USUAL_HEIGHT;

  constructor(private readonly block: Range) {}

  takeUsual(width: number, height: number): void {
    if (width > 0) this.usualWidth = width;
    if (height > 0) this.usualHeight = height;
  }

  takeColumns(left: number, right: number, width: number): void {
    if (!(width >= 0)) return;
    for (let column = Math.max(left, this.block.left); column <= Math.min(right, this.block.right); column += 1)
      this.widths.set(column, width);
  }

  takeRow(row: number, height: number): void {
    if (height >= 0 && row >= this.block.top && row <= this.block.bottom) this.heights.set(row, height);
  }

  takeMerges(merges: Range[]): void {
    const { top, left, bottom, right } = this.block;
    for (const merge of merges)
      if (merge.top <= bottom && merge.bottom >= top && merge.left <= right && merge.right >= left) this.merges.push(merge);
  }

  /** In characters; 0 for hidden columns. */
  listWidths(): number[] {
    const { left, right } = this.block;
    return Array.from({ length: right - left + 1 }, (_, k) => this.widths.get(left + k) ?? this.usualWidth);
  }

  /** Of the first rows of the block, in points; 0 for hidden rows. */
  listHeights(rows: number): number[] {
    return Array.from({ length: rows }, (_, k) => this.heights.get(this.block.top + k) ?? this.usualHeight);
  }
}
