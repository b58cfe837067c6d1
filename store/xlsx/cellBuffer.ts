// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Cells as they come, as parallel arrays that grow. */

import type { Grid } from '../../core/grid/grid.ts';

const FIRST_CAPACITY = 1024;
/** From so many cells on they are in memory that threads can share, and of which what is not touched is not taken. */
const MANY_CELLS = 131_072;

type Cells = Uint32Array | Uint16Array | Uint8Array | Float64Array | Int32Array;

interface CellsKind<T> {
  new (room: number | SharedArrayBuffer): T;
  BYTES_PER_ELEMENT: number;
}

function makeCells<T extends Cells>(kind: CellsKind<T>, capacity: number): T {
  return new kind(capacity >= MANY_CELLS ? new SharedArrayBuffer(capacity * kind.BYTES_PER_ELEMENT) : capacity);
}

export class CellBuffer {
  size = 0;
  rows: Uint32Array;
  columns: Uint16Array;
  kinds: Uint8Array;
  numbers: Float64Array;
  texts: Int32Array;
  styleIds: Uint16Array;
  formulaIds: Int32Array;
  /** False as soon as a cell stands before one that came earlier, or on it. */
  inOrder = true;

  /** @param expected as many cells as there may well be. */
  constructor(expected = 0) {
    const capacity = Math.max(FIRST_CAPACITY, expected);
    this.rows = makeCells(Uint32Array, capacity);
    this.columns = makeCells(Uint16Array, capacity);
    this.kinds = makeCells(Uint8Array, capacity);
    this.numbers = makeCells(Float64Array, capacity);
    this.texts = makeCells(Int32Array, capacity);
    this.styleIds = makeCells(Uint16Array, capacity);
    this.formulaIds = makeCells(Int32Array, capacity);
  }

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
    const pick = <T extends Cells>(from: T): T => {
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

  /** Without the room to grow. */
  toArrays(): Pick<Grid, 'size' | 'rows' | 'columns' | 'kinds' | 'numbers' | 'texts' | 'styleIds' | 'formulaIds'> {
    const { size } = this;
    const cut = <T extends Cells>(cells: T): T => (cells.length < MANY_CELLS ? cells.slice(0, size) : cells.subarray(0, size)) as T;
    return {
      size,
      rows: cut(this.rows),
      columns: cut(this.columns),
      kinds: cut(this.kinds),
      numbers: cut(this.numbers),
      texts: cut(this.texts),
      styleIds: cut(this.styleIds),
      formulaIds: cut(this.formulaIds),
    };
  }

  clear(): void {
    this.size = 0;
    this.inOrder = true;
  }

  private grow(): void {
    const capacity = this.rows.length * 2;
    const grow = <T extends Cells>(from: T): T => {
      const grown = makeCells(from.constructor as CellsKind<T>, capacity);
      grown.set(from);
      return grown;
    };
    this.rows = grow(this.rows);
    this.columns = grow(this.columns);
    this.kinds = grow(this.kinds);
    this.numbers = grow(this.numbers);
    this.texts = grow(this.texts);
    this.styleIds = grow(this.styleIds);
    this.formulaIds = grow(this.formulaIds);
  }
}
