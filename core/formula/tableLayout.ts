/** Where the cells of a sheet stand in the sheet that a table is exported to. */

import type { Range } from '../grid/grid.ts';
import type { MovedArea } from './moveFormula.ts';

export class TableLayout {
  /** By row of the old sheet: the row of the new one, 0 for none. */
  private readonly rows: Int32Array;
  /** By row of the old sheet: the first one of those before it that stand in one piece with it. */
  private readonly runs: Int32Array;

  constructor(
    private readonly sheet: string,
    rows: [oldRow: number, newRow: number][],
    /** From columns of the old sheet to those of the new one. */
    private readonly columns: ReadonlyMap<number, number>,
  ) {
    const last = rows.reduce((most, [oldRow]) => Math.max(most, oldRow), 0);
    this.rows = new Int32Array(last + 1);
    for (const [oldRow, newRow] of rows) this.rows[oldRow] = newRow;
    this.runs = new Int32Array(last + 1);
    for (let row = 1; row <= last; row += 1) {
      const goesOn = this.rowOf(row) > 1 && this.rowOf(row) === this.rowOf(row - 1) + 1 && this.rowOf(row - 1) > 0;
      this.runs[row] = goesOn ? (this.runs[row - 1] as number) : row;
    }
  }

  /** Null: not all of it is there, or not in this shape. */
  find({ top, bottom, left, right }: Range): MovedArea | null {
    const first = this.columns.get(left);
    if (first === undefined) return null;
    for (let column = left + 1; column <= right; column += 1) if (this.columns.get(column) !== first + column - left) return null;
    const isWhole = top === 0;
    const isThere = isWhole || (this.rowOf(top) > 0 && this.rowOf(bottom) > 0 && (this.runs[bottom] as number) <= top);
    if (!isThere) return null;
    return {
      sheet: this.sheet,
      left: first,
      right: first + right - left,
      top: isWhole ? 0 : this.rowOf(top),
      bottom: isWhole ? 0 : this.rowOf(bottom),
    };
  }

  private rowOf(oldRow: number): number {
    return this.rows[oldRow] ?? 0;
  }
}
