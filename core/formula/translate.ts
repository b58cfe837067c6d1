/** Moves a formula to another cell, as Excel does when it is filled down or shared. */

import { MAX_COLUMNS, MAX_ROWS, nameColumn } from '../a1/address.ts';
import type { Reference, SplitFormula } from './references.ts';

/** For a formula that many cells share: split once, shifted for each. */
export function shiftFormula(split: SplitFormula, rowShift: number, columnShift: number): string {
  let text = split.literals[0] ?? '';
  split.references.forEach((reference, i) => {
    text += shiftReference(reference, rowShift, columnShift) + (split.literals[i + 1] ?? '');
  });
  return text;
}

function shiftReference(reference: Reference, rowShift: number, columnShift: number): string {
  let text = '';
  if (reference.column > 0) {
    const column = reference.columnFixed ? reference.column : reference.column + columnShift;
    if (column < 1 || column > MAX_COLUMNS) return '#REF!';
    text = (reference.columnFixed ? '$' : '') + nameColumn(column);
  }
  if (reference.row > 0) {
    const row = reference.rowFixed ? reference.row : reference.row + rowShift;
    if (row < 1 || row > MAX_ROWS) return '#REF!';
    text += (reference.rowFixed ? '$' : '') + row;
  }
  return text;
}
