// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Formulas of one sheet: texts by number, shared ones moved to each cell that shares them. */

import { parseArea } from '../../core/a1/address.ts';
import { type SplitFormula, splitFormula } from '../../core/formula/references.ts';
import { shiftFormula } from '../../core/formula/translate.ts';
import type { Grid } from '../../core/grid/grid.ts';
import type { CellBuffer } from './cellBuffer.ts';
import { refuseTooLarge } from './fileRefusals.ts';

interface SharedFormula {
  row: number;
  column: number;
  text: string;
  split: SplitFormula | null;
}

/** Limit on the rows of all array formulas of a sheet; real sheets stay far below. */
const ARRAY_ROWS = 4_000_000;

/** Limit on characters of formulas in memory: a long formula shared by a million cells must not exhaust it. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

export class FormulaBook {
  formulas: string[] = [];
  private characters = 0;
  arrays: NonNullable<Grid['arrays']> = [];
  private readonly shared = new Map<string, SharedFormula>();
  /** Cells whose shared formula is not defined yet, with the key they wait for. */
  private waiting: { cell: number; key: string }[] = [];

  addText(text: string): number {
    this.characters += text.length;
    if (this.characters > MOST_CHARACTERS)
      throw refuseTooLarge(
        'The formulas of a sheet have more than 64 million characters.',
        'Send the sheet with values in place of formulas.',
      );
    return this.formulas.push(text) - 1;
  }

  defineShared(key: string, row: number, column: number, text: string): void {
    this.shared.set(key, { row, column, text, split: null });
  }

  /** -1 when the formula is not defined yet; `waitFor` then keeps the cell. */
  addShared(key: string, row: number, column: number): number {
    const shared = this.shared.get(key);
    if (!shared) return -1;
    shared.split ??= splitFormula(shared.text);
    return this.addText(shiftFormula(shared.split, row - shared.row, column - shared.column));
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
    this.characters = 0;
    this.arrays = this.arrays.filter(({ range }) => range.bottom >= row);
  }

  /** Every cell that an array formula fills shows that formula. Cells are in order. */
  spreadArrays(cells: CellBuffer): void {
    let budget = ARRAY_ROWS;
    for (const { range, formula } of this.arrays) {
      if (range.top === range.bottom && range.left === range.right) continue;
      let id = -1;
      for (let at = lowerBound(cells, range.top, range.left); at < cells.size && budget > 0; budget -= 1) {
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
