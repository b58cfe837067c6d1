/** A column of cells without an object for each of them. */

import { CellKind, type Grid } from '../../grid/grid.ts';
import { type CellValue, type InferredColumn, inferColumn, type Reading } from '../../types/infer.ts';
import { FIRST_DAY, isEarly, readValue } from './cellValue.ts';

/** The narrowest type that every cell fits; positions below zero are blank. */
export function inferCells(grid: Grid, cells: ArrayLike<number>, hint: Reading = {}): InferredColumn {
  return inferColumn(standIns(grid, cells), hint);
}

/**
 * One cell for all that say the same about the type: a text once, however often it is written; of numbers and dates one of each
 * kind. What is inferred from these is what is inferred from all, because every rule asks whether some or all values are so.
 */
function* standIns(grid: Grid, cells: ArrayLike<number>): Generator<CellValue> {
  const { kinds, numbers, texts } = grid;
  const seenTexts = new Uint8Array(grid.strings.length);
  const seen = new Uint8Array(SORTS);
  for (let n = 0; n < cells.length; n += 1) {
    const cell = cells[n]!;
    if (cell < 0) continue;
    const kind = kinds[cell]!;
    if (kind === CellKind.text) {
      const text = texts[cell]!;
      if (seenTexts[text] === 1) continue;
      seenTexts[text] = 1;
    } else {
      const sort = kind * 4 + sortOf(kind, numbers[cell]!);
      if (seen[sort] === 1) continue;
      seen[sort] = 1;
    }
    yield readValue(grid, cell);
  }
}

const dayMs = 86_400_000;
/** Kinds times what `sortOf` tells apart, and some. */
const SORTS = 64;

function sortOf(kind: number, number: number): number {
  if (kind === CellKind.number) return Number.isSafeInteger(number) ? 0 : 1;
  if (kind !== CellKind.date) return 0;
  if (number < FIRST_DAY) return 2;
  if (isEarly(number)) return 3;
  // A moment within the first second of a day is that day. The remainder by `%` takes ten times as long.
  return number - Math.floor(number / dayMs) * dayMs >= 1000 ? 1 : 0;
}
