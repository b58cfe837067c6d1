/** Formulas that stay without a value. */

import type { Grid } from '../../grid/grid.ts';
import type { Finding } from '../building/output.ts';
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
