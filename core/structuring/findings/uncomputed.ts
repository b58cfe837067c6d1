/** Formulas that stay without a value, and those that give another one than is stored. */

import { formatGeneral } from '../../grid/format/decimal.ts';
import type { Grid } from '../../grid/grid.ts';
import type { Finding } from '../spec/finding.ts';
import { LISTED_CELLS } from '../thresholds.ts';

export function listUncomputed({ sheet, uncomputed = [] }: Grid): Finding[] {
  return uncomputed.map(({ why, cells }) => ({
    kind: 'no_value' as const,
    sheet,
    table: '',
    cell: cells[0] ?? '',
    ...(cells.length > 1 ? { count: cells.length, cells: cells.slice(0, LISTED_CELLS) } : {}),
    stated: null,
    computed: null,
    message: `${cells.length} ${cells.length === 1 ? 'formula has' : 'formulas have'} no stored result and cannot be computed: ${why}`,
  }));
}

/** The tables hold what is stored. */
export function listStale({ sheet, stale = [] }: Grid): Finding[] {
  return stale.map(({ formula, stated, computed, cells }) => ({
    kind: 'stale_result' as const,
    sheet,
    table: '',
    cell: cells[0] ?? '',
    ...(cells.length > 1 ? { count: cells.length, cells: cells.slice(0, LISTED_CELLS) } : {}),
    stated,
    computed,
    message: `${cells.length} stored ${cells.length === 1 ? 'result is' : 'results are'} not what the formula gives: ${formula.slice(0, SHOWN_FORMULA)} is ${formatGeneral(computed)}, the sheet says ${formatGeneral(stated)}`,
  }));
}

const SHOWN_FORMULA = 80;
