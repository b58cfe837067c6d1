/** From a row of an output table back to the cells of its sheet. */

import type { Grid } from '../grid/grid.ts';
import { formatCell, formatRange } from './a1.ts';
import type { OutputTable } from './output.ts';

/** A1 ranges of the cells behind row `n`; neighbours in a row are joined. */
export function listCells(grid: Grid, table: OutputTable, n: number): string[] {
  const { offsets, cells } = table.provenance;
  const own = cells.slice(offsets[n] ?? 0, offsets[n + 1] ?? 0).sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let k = 0; k < own.length; ) {
    let end = k;
    while (
      end + 1 < own.length &&
      grid.rows[own[end + 1]!] === grid.rows[own[k]!] &&
      grid.columns[own[end + 1]!]! - grid.columns[own[end]!]! <= 1
    )
      end += 1;
    const [first, last] = [own[k]!, own[end]!];
    ranges.push(
      first === last
        ? formatCell(grid.rows[first]!, grid.columns[first]!)
        : formatRange({ top: grid.rows[first]!, bottom: grid.rows[first]!, left: grid.columns[first]!, right: grid.columns[last]! }),
    );
    k = end + 1;
  }
  return [...new Set(ranges)];
}
