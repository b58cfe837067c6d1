/** Lines people draw: the borders around cells, blank ones included. */

import type { CellStyle, Grid } from '../../grid/grid.ts';
import { MIN_VERTICALS } from '../thresholds.ts';

type Border = CellStyle['border'];

export class Frames {
  private readonly grid: Grid;
  /** Runs of blank cells with borders, by row. */
  private readonly blanks = new Map<number, Grid['blanks']>();

  constructor(grid: Grid) {
    this.grid = grid;
    for (const run of grid.blanks) {
      const own = this.blanks.get(run.row);
      if (own) own.push(run);
      else this.blanks.set(run.row, [run]);
    }
  }

  /** True when a line runs above or below all these blank cells. */
  isRuled(row: number, left: number, right: number): boolean {
    let [top, bottom] = [0, 0];
    for (const run of this.blanks.get(row) ?? []) {
      const width = Math.min(run.right, right) - Math.max(run.left, left) + 1;
      const border = this.grid.styles[run.styleId]?.border;
      if (width < 1 || !border) continue;
      if (border.top) top += width;
      if (border.bottom) bottom += width;
    }
    return Math.max(top, bottom) === right - left + 1;
  }

  /** Columns of this row that have a line on their left side, within a block; `cells` are the indices of its filled cells. */
  verticals(row: number, left: number, right: number, cells: [number, number]): Set<number> {
    const found = new Set<number>();
    const add = (column: number, border: Border | undefined, last: number) => {
      if (!border) return;
      if (border.left) for (let c = column; c <= last; c += 1) if (c >= left && c <= right + 1) found.add(c);
      if (border.right) for (let c = column; c <= last; c += 1) if (c + 1 >= left && c <= right) found.add(c + 1);
    };
    for (let i = cells[0]; i < cells[1]; i += 1) {
      const column = this.grid.columns[i]!;
      add(column, this.grid.styles[this.grid.styleIds[i]!]?.border, column);
    }
    for (const run of this.blanks.get(row) ?? [])
      add(Math.max(run.left, left - 1), this.grid.styles[run.styleId]?.border, Math.min(run.right, right + 1));
    return found;
  }

  /** True when enough lines run down through all these rows. */
  runsThrough(rows: Iterable<Set<number>>): boolean {
    let common: Set<number> | null = null;
    for (const row of rows) {
      const before: Set<number> = common ?? row;
      common = new Set([...before].filter((column) => row.has(column)));
      if (common.size < MIN_VERTICALS) return false;
    }
    return common !== null;
  }
}
