/** The faithful copy of a sheet: every used cell as shown, columns by their letters. */

import { formatRange, nameColumn } from '../../a1/address.ts';
import type { Grid } from '../../grid/grid.ts';
import { SheetView } from '../sheet/sheet.ts';
import type { OutputTable } from './output.ts';

/** `F` for a single sheet, `F_S` for several; sheets without a cell have no raw table and do not count. */
export function nameRawTables(grids: Grid[], fileName: string, baseOf: (fileName: string) => string): string[] {
  const file = baseOf(fileName);
  const several = grids.filter((grid) => grid.size > 0).length > 1;
  return grids.map((grid) => (several ? `${file}_${grid.sheet}` : file));
}

export function buildRawTable(grid: Grid): OutputTable {
  const view = new SheetView(grid);
  const width = view.used?.right ?? 0;
  const rows: (string | null)[][] = [];
  for (let index = 0; index < view.rows.length; index += 1) {
    const values: (string | null)[] = new Array<string | null>(width).fill(null);
    for (let i = view.starts[index]!; i < view.starts[index + 1]!; i += 1) values[grid.columns[i]! - 1] = view.shown(i);
    rows.push(values);
  }
  return {
    name: '',
    role: 'raw',
    sheet: grid.sheet,
    regionId: null,
    range: view.used && formatRange(view.used),
    columns: Array.from({ length: width }, (_, k) => ({ name: nameColumn(k + 1), type: 'VARCHAR' as const })),
    rows,
    made: [],
    provenance: {
      offsets: view.starts,
      cells: Array.from({ length: grid.size }, (_, i) => i),
      columns: Array.from(grid.columns, (column) => column - 1),
    },
  };
}
