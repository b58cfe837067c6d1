// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/**
 * Blank cells with a visible style (border or fill), as runs. Only at the end is it known which lie within the filled area, so
 * they are stored compactly, and at most a fixed number of them: more would say nothing about a sheet's structure.
 */

import { MAX_COLUMNS, MAX_ROWS } from '../../core/a1/address.ts';
import type { Grid, Range } from '../../core/grid/grid.ts';

const MOST_RUNS = 1_000_000;

/** A column's or row's own style, for cells that the file leaves out. */
interface ColumnStyle {
  left: number;
  right: number;
  styleId: number;
}

export class BlankRuns {
  private rows = new Uint32Array(256);
  private lefts = new Uint16Array(256);
  private rights = new Uint16Array(256);
  private styleIds = new Uint16Array(256);
  private size = 0;
  /** Visible styles of whole columns, ascending. */
  private columnStyles: ColumnStyle[] = [];
  private currentRow = 0;
  private currentStyle = -1;
  private nextColumn = 1;
  private tracking = false;
  /** A bit for each row that the file has, once columns have styles. */
  private seenRows: Uint8Array | null = null;

  constructor(private readonly visible: Uint8Array) {}

  addColumnStyle(style: ColumnStyle): void {
    if (!this.visible[style.styleId] || this.columnStyles.length >= MAX_COLUMNS) return;
    // Rows out of order occur only in very unusual files.
    const at = this.columnStyles.findLastIndex((known) => known.left < style.left) + 1;
    this.columnStyles.splice(at, 0, style);
  }

  /** `styleId` is the style of the whole row, -1 for none. */
  beginRow(row: number, styleId: number): void {
    this.endRow();
    this.currentRow = row;
    this.currentStyle = styleId;
    this.nextColumn = 1;
    this.tracking = this.columnStyles.length > 0 || styleId >= 0;
    if (this.columnStyles.length > 0) {
      this.seenRows ??= new Uint8Array((MAX_ROWS >> 3) + 1);
      this.seenRows[row >> 3]! |= 1 << (row & 7);
    }
  }

  endRow(): void {
    if (this.currentRow > 0 && this.tracking) this.fillGap(this.currentRow, this.currentStyle, this.nextColumn, MAX_COLUMNS);
    this.currentRow = 0;
  }

  /** A cell of the current row, blank or not; those in front of it that are missing take the style of row or column. */
  passCell(row: number, column: number): void {
    if (!this.tracking || row !== this.currentRow) return;
    if (column > this.nextColumn) this.fillGap(row, this.currentStyle, this.nextColumn, column - 1);
    if (column >= this.nextColumn) this.nextColumn = column + 1;
  }

  add(row: number, left: number, right: number, styleId: number): void {
    const last = this.size - 1;
    if (last >= 0 && this.rows[last] === row && this.rights[last] === left - 1 && this.styleIds[last] === styleId) {
      this.rights[last] = right;
      return;
    }
    if (this.size >= MOST_RUNS) return;
    if (this.size === this.rows.length) this.grow();
    this.rows[this.size] = row;
    this.lefts[this.size] = left;
    this.rights[this.size] = right;
    this.styleIds[this.size] = styleId;
    this.size += 1;
  }

  /** What lies inside of the box, in row order. */
  collect(box: Range): Grid['blanks'] {
    this.endRow();
    if (this.columnStyles.length > 0) {
      for (let row = box.top; row <= box.bottom && this.size < MOST_RUNS; row += 1) {
        if ((((this.seenRows?.[row >> 3] ?? 0) >> (row & 7)) & 1) === 0) this.fillGap(row, -1, box.left, box.right);
      }
    }
    const blanks: Grid['blanks'] = [];
    for (let i = 0; i < this.size; i += 1) {
      const [row, left, right] = [this.rows[i]!, Math.max(box.left, this.lefts[i]!), Math.min(box.right, this.rights[i]!)];
      if (row >= box.top && row <= box.bottom && left <= right) blanks.push({ row, left, right, styleId: this.styleIds[i]! });
    }
    const ordered = blanks.every(
      (run, i) => i === 0 || blanks[i - 1]!.row < run.row || (blanks[i - 1]!.row === run.row && blanks[i - 1]!.left < run.left),
    );
    return ordered ? blanks : blanks.sort((a, b) => a.row - b.row || a.left - b.left);
  }

  private fillGap(row: number, rowStyle: number, left: number, right: number): void {
    if (left > right || this.size >= MOST_RUNS) return;
    if (rowStyle >= 0) {
      if (this.visible[rowStyle]) this.add(row, left, right, rowStyle);
      return;
    }
    let [low, high] = [0, this.columnStyles.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.columnStyles[middle]!.right < left) low = middle + 1;
      else high = middle;
    }
    for (; low < this.columnStyles.length && this.columnStyles[low]!.left <= right; low += 1) {
      const style = this.columnStyles[low]!;
      this.add(row, Math.max(left, style.left), Math.min(right, style.right), style.styleId);
    }
  }

  private grow(): void {
    const copy = <T extends { set(from: T): void }>(grown: T, from: T): T => {
      grown.set(from);
      return grown;
    };
    const capacity = this.rows.length * 2;
    this.rows = copy(new Uint32Array(capacity), this.rows);
    this.lefts = copy(new Uint16Array(capacity), this.lefts);
    this.rights = copy(new Uint16Array(capacity), this.rights);
    this.styleIds = copy(new Uint16Array(capacity), this.styleIds);
  }
}
