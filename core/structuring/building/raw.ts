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
  const rowCount = view.rows.length;
  const values = Array.from({ length: width }, () => new Array<string | null>(rowCount).fill(null));
  for (let index = 0; index < rowCount; index += 1)
    for (let i = view.starts[index]!; i < view.starts[index + 1]!; i += 1) values[grid.columns[i]! - 1]![index] = view.shown(i);
  return {
    name: '',
    role: 'raw',
    sheet: grid.sheet,
    regionId: null,
    range: view.used && formatRange(view.used),
    columns: Array.from({ length: width }, (_, k) => ({ name: nameColumn(k + 1), type: 'VARCHAR' as const })),
    rowCount,
    values,
    made: [],
    provenance: {
      offsets: view.starts,
      cells: Int32Array.from({ length: grid.size }, (_, i) => i),
      columns: grid.columns.map((column) => column - 1),
    },
  };
}
