import { storedText } from '../../core/grid/format/storedText.ts';
import type { CellKind, Grid } from '../../core/grid/grid.ts';
import type { OutputTable } from '../../core/structuring/index.ts';
import type { StoredValue } from '../../core/types/index.ts';

/** A cell of an output table that came from a formula. Row and column count from 0. */
export interface FormulaCell {
  row: number;
  column: number;
  /** What the sheet stores, if the table shows something else. */
  stored: string | null;
  formula: string;
}

/**
 * The formulas behind a table's values, in row order. Only for values that come from a single cell: combined values, and those
 * made from headers, have no formula of their own.
 */
export function* listFormulas(grid: Grid, { rowCount, values, made, provenance }: OutputTable): Generator<FormulaCell> {
  if (grid.formulas.length === 0) return;
  const { offsets, cells, columns } = provenance;
  const skipped = new Set(made);
  for (let row = 0; row < rowCount; row += 1) {
    const [from, to] = [offsets[row] ?? 0, offsets[row + 1] ?? 0];
    for (let k = from; k < to; k += 1) {
      const [cell = 0, column = -1] = [cells[k], columns[k]];
      const formula = grid.formulas[grid.formulaIds[cell] ?? -1];
      if (formula === undefined || column < 0 || skipped.has(column)) continue;
      const text = grid.strings[grid.texts[cell] ?? -1] ?? '';
      const stored = storedText(grid.kinds[cell] as CellKind, grid.numbers[cell] ?? 0, text);
      yield { row, column, stored: stored === shownText(values[column]?.at(row) ?? null) ? null : stored, formula };
    }
  }
}

/** The table's value in the form of stored text, for comparison. */
function shownText(value: StoredValue): string | null {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number') return String(value);
  return value?.replace(/^(\d{4}-\d{2}-\d{2})T(\S+)$/, (_, day, time) => (time === '00:00:00' ? day : `${day} ${time}`)) ?? null;
}
