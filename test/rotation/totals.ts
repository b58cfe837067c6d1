/** How many of the rows that people call totals are listed as sums, and how many are at least kept apart from the details. */

import { parseRange } from '../../core/a1/address.ts';
import type { Range } from '../../core/grid/grid.ts';
import type { SpecRegion } from '../../core/structuring/index.ts';

export interface LabelledTotals {
  range: string;
  /** Null: nobody said which rows are totals. */
  total_rows: number[] | null;
  computed_rows?: number[];
}

export interface TotalCounts {
  wanted: number;
  /** Rows that are listed as totals or subtotals, and those among them that are wanted. */
  sums: number;
  foundSums: number;
  /** The same with averages, quotients and differences, which some sets label as totals and others do not. */
  computed: number;
  foundComputed: number;
}

type TableTotals = Pick<SpecRegion, 'range' | 'totals'>;

export function countTotals(tables: LabelledTotals[], regions: TableTotals[]): TotalCounts {
  const counts = { wanted: 0, sums: 0, foundSums: 0, computed: 0, foundComputed: 0 };
  for (const { range, total_rows: labelled, computed_rows: open = [] } of tables) {
    const area = parseRange(range);
    if (labelled === null || area === null) continue;
    const rowsOf = (isWanted: (kind: string) => boolean) =>
      new Set(
        regions
          .filter((region) => touches(region, area))
          .flatMap(({ totals = [] }) => totals)
          .flatMap(({ at, kind }) => (typeof at === 'number' && isWanted(kind) ? [at] : []))
          .filter((row) => row >= area.top && row <= area.bottom && !open.includes(row)),
      );
    const [sums, computed] = [rowsOf((kind) => kind !== 'computed'), rowsOf(() => true)];
    counts.wanted += labelled.length;
    counts.sums += sums.size;
    counts.foundSums += labelled.filter((row) => sums.has(row)).length;
    counts.computed += computed.size;
    counts.foundComputed += labelled.filter((row) => computed.has(row)).length;
  }
  return counts;
}

function touches({ range }: TableTotals, area: Range): boolean {
  const own = parseRange(range);
  return own !== null && own.top <= area.bottom && area.top <= own.bottom && own.left <= area.right && area.left <= own.right;
}

export function addTotals(all: TotalCounts[]): TotalCounts {
  const sum = (pick: keyof TotalCounts) => all.reduce((total, counts) => total + counts[pick], 0);
  return {
    wanted: sum('wanted'),
    sums: sum('sums'),
    foundSums: sum('foundSums'),
    computed: sum('computed'),
    foundComputed: sum('foundComputed'),
  };
}
