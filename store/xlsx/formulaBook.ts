// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Formulas of one sheet: texts by number, shared ones moved to each cell that shares them. */

import { parseArea } from '../../core/a1/address.ts';
import { type SplitFormula, splitFormula } from '../../core/formula/references.ts';
import { shiftFormula } from '../../core/formula/translate.ts';
import type { Grid } from '../../core/grid/grid.ts';
import type { CellBuffer } from './cellBuffer.ts';
import type { FormulaBudget } from './formulaBudget.ts';

interface SharedFormula {
  row: number;
  column: number;
  text: string;
  split: SplitFormula | null;
}

export class FormulaBook {
  formulas: string[] = [];
  arrays: NonNullable<Grid['arrays']> = [];
  private readonly shared = new Map<string, SharedFormula>();
  /** Cells whose shared formula is not defined yet, with the key they wait for. */
  private waiting: { cell: number; key: string }[] = [];

  constructor(private readonly budget: FormulaBudget) {}

  addText(text: string): number {
    this.budget.takeCharacters(text.length);
    return this.formulas.push(text) - 1;
  }

  defineShared(key: string, row: number, column: number, text: string): void {
    this.shared.set(key, { row, column, text, split: null });
  }

  /** -1 when the formula is not defined yet; `waitFor` then keeps the cell. */
  addShared(key: string, row: number, column: number): number {
    const shared = this.shared.get(key);
    if (!shared) return -1;
    shared.split ??= this.split(shared.text);
    return this.addText(shiftFormula(shared.split, row - shared.row, column - shared.column));
  }

  private split(text: string): SplitFormula {
    const split = splitFormula(text);
    this.budget.takeReferences(split.references.length);
    return split;
  }

  waitFor(key: string, cell: number): void {
    this.waiting.push({ cell, key });
  }

  /** Must be called before cells are sorted or passed on, while their indices are still valid. */
  settle(cells: CellBuffer): void {
    for (const { cell, key } of this.waiting) cells.formulaIds[cell] = this.addShared(key, cells.rows[cell]!, cells.columns[cell]!);
    this.waiting = [];
  }

  addArray(reference: string, formula: string, kind: 'array' | 'dataTable'): void {
    const range = parseArea(reference);
    if (range) this.arrays.push({ range, formula, kind });
  }

  /** Starts over after `row`, but keeps array formulas that reach further down. */
  reset(row: number): void {
    this.formulas = [];
    this.arrays = this.arrays.filter(({ range }) => range.bottom >= row);
  }

  /** Every cell that an array formula fills shows that formula. Cells are in order. */
  spreadArrays(cells: CellBuffer): void {
    const { budget } = this;
    for (const { range, formula } of this.arrays) {
      budget.arrayCells -= 1;
      if (budget.arrayCells <= 0) return;
      if (range.top === range.bottom && range.left === range.right) continue;
      let id = -1;
      for (let at = lowerBound(cells, range.top, range.left); at < cells.size && budget.arrayCells > 0; budget.arrayCells -= 1) {
        const row = cells.rows[at]!;
        if (row > range.bottom) break;
        const column = cells.columns[at]!;
        if (column > range.right) at = lowerBound(cells, row + 1, range.left);
        else if (column < range.left) at = lowerBound(cells, row, range.left);
        else {
          if (cells.formulaIds[at]! < 0) {
            if (id < 0) id = this.addText(formula);
            cells.formulaIds[at] = id;
          }
          at += 1;
        }
      }
    }
  }
}

function lowerBound(cells: CellBuffer, row: number, column: number): number {
  let low = 0;
  let high = cells.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const before = cells.rows[middle]! < row || (cells.rows[middle] === row && cells.columns[middle]! < column);
    if (before) low = middle + 1;
    else high = middle;
  }
  return low;
}
