// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Cells as they come, as parallel arrays that grow. */

import type { Grid } from '../../core/grid/grid.ts';

const FIRST_CAPACITY = 1024;

export class CellBuffer {
  size = 0;
  rows = new Uint32Array(FIRST_CAPACITY);
  columns = new Uint16Array(FIRST_CAPACITY);
  kinds = new Uint8Array(FIRST_CAPACITY);
  numbers = new Float64Array(FIRST_CAPACITY);
  texts = new Int32Array(FIRST_CAPACITY);
  styleIds = new Uint16Array(FIRST_CAPACITY);
  formulaIds = new Int32Array(FIRST_CAPACITY);
  /** False as soon as a cell stands before one that came earlier, or on it. */
  inOrder = true;

  add(row: number, column: number, kind: number, number: number, text: number, styleId: number, formulaId: number): number {
    const at = this.size;
    if (at === this.rows.length) this.grow();
    if (at > 0 && this.inOrder) {
      const lastRow = this.rows[at - 1]!;
      if (row < lastRow || (row === lastRow && column <= this.columns[at - 1]!)) this.inOrder = false;
    }
    this.rows[at] = row;
    this.columns[at] = column;
    this.kinds[at] = kind;
    this.numbers[at] = number;
    this.texts[at] = text;
    this.styleIds[at] = styleId;
    this.formulaIds[at] = formulaId;
    this.size = at + 1;
    return at;
  }

  /** Row order; of several cells at one address the last one stays. */
  sort(): void {
    if (this.inOrder) return;
    const order = this.orderCells();
    const kept = order.filter(
      (cell, i) =>
        i + 1 === order.length || this.rows[cell] !== this.rows[order[i + 1]!] || this.columns[cell] !== this.columns[order[i + 1]!],
    );
    const pick = <T extends Uint32Array | Uint16Array | Uint8Array | Float64Array | Int32Array>(from: T): T => {
      const picked = from.slice(0, Math.max(1, kept.length)) as T;
      kept.forEach((cell, i) => {
        picked[i] = from[cell]!;
      });
      return picked;
    };
    const { rows, columns, kinds, numbers, texts, styleIds, formulaIds } = this;
    this.rows = pick(rows);
    this.columns = pick(columns);
    this.kinds = pick(kinds);
    this.numbers = pick(numbers);
    this.texts = pick(texts);
    this.styleIds = pick(styleIds);
    this.formulaIds = pick(formulaIds);
    this.size = kept.length;
    this.inOrder = true;
  }

  /** Counted by row, which is linear; within a row columns are compared. */
  private orderCells(): Uint32Array {
    let lastRow = 0;
    for (let i = 0; i < this.size; i += 1) lastRow = Math.max(lastRow, this.rows[i]!);
    const starts = new Uint32Array(lastRow + 2);
    for (let i = 0; i < this.size; i += 1) starts[this.rows[i]! + 1]! += 1;
    for (let row = 1; row < starts.length; row += 1) starts[row]! += starts[row - 1]!;
    const order = new Uint32Array(this.size);
    const next = starts.slice();
    for (let i = 0; i < this.size; i += 1) {
      const row = this.rows[i]!;
      order[next[row]!] = i;
      next[row]! += 1;
    }
    for (let row = 1; row <= lastRow; row += 1) {
      const cells = order.subarray(starts[row], starts[row + 1]);
      let sorted = true;
      for (let i = 1; i < cells.length && sorted; i += 1) sorted = this.columns[cells[i - 1]!]! <= this.columns[cells[i]!]!;
      if (!sorted) cells.sort((a, b) => this.columns[a]! - this.columns[b]! || a - b);
    }
    return order;
  }

  /** Without the room to grow, of which nothing was touched, so that it takes no memory. */
  toArrays(): Pick<Grid, 'size' | 'rows' | 'columns' | 'kinds' | 'numbers' | 'texts' | 'styleIds' | 'formulaIds'> {
    const { size } = this;
    return {
      size,
      rows: this.rows.subarray(0, size),
      columns: this.columns.subarray(0, size),
      kinds: this.kinds.subarray(0, size),
      numbers: this.numbers.subarray(0, size),
      texts: this.texts.subarray(0, size),
      styleIds: this.styleIds.subarray(0, size),
      formulaIds: this.formulaIds.subarray(0, size),
    };
  }

  clear(): void {
    this.size = 0;
    this.inOrder = true;
  }

  private grow(): void {
    const capacity = this.rows.length * 2;
    const copy = <T extends { set(from: T): void }>(grown: T, from: T): T => {
      grown.set(from);
      return grown;
    };
    this.rows = copy(new Uint32Array(capacity), this.rows);
    this.columns = copy(new Uint16Array(capacity), this.columns);
    this.kinds = copy(new Uint8Array(capacity), this.kinds);
    this.numbers = copy(new Float64Array(capacity), this.numbers);
    this.texts = copy(new Int32Array(capacity), this.texts);
    this.styleIds = copy(new Uint16Array(capacity), this.styleIds);
    this.formulaIds = copy(new Int32Array(capacity), this.formulaIds);
  }
}
