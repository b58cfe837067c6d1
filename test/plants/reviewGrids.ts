import type { Grid } from '../../core/grid/grid.ts';
import type { Finding } from '../../core/review/finding.ts';
import { type PlacedTable, placeTables } from '../../core/review/placeTables.ts';
import type { Value } from '../../core/review/region.ts';
import { reviewRegion } from '../../core/review/reviewRegion.ts';
import { analyze, build, listRows } from '../../core/structuring/index.ts';
import { namingOf } from '../../core/structuring/names/naming.ts';

/** Structures sheets as an upload does, and reviews the tables that come out, as the service does with the stored ones. */
export function reviewGrids(grids: Grid[], file: string): Finding[] {
  return placeGrids(grids, file).flatMap(({ name, tables }) => reviewRegion(placeTables(name, tables)));
}

/** The tables of each region of the sheets. */
export function placeGrids(grids: Grid[], file: string): { name: string; tables: PlacedTable[] }[] {
  const spec = analyze(grids, file);
  const naming = namingOf(spec);
  const { tables } = build(grids, spec, file);
  const regions = new Map<string, typeof tables>();
  for (const table of tables) {
    if (table.role !== 'data' && table.role !== 'level' && table.role !== 'computed') continue;
    const key = `${table.sheet} ${table.regionId}`;
    regions.set(key, [...(regions.get(key) ?? []), table]);
  }
  return [...regions.values()].map((own) => {
    const [{ sheet, name }] = own as [(typeof own)[0]];
    const grid = grids.find((each) => each.sheet === sheet) as Grid;
    const placed = own.map((table) => ({
      name: table.name,
      columns: table.columns,
      rows: listRows(table).map((row) => row.map((value): Value => (typeof value === 'boolean' ? String(value) : value))),
      rowIds: Array.from({ length: table.rowCount }, (_, k) => k + 1),
      periodColumn: table.columns.findIndex((column) => column.name === naming.period),
      cells: listRows(table).flatMap((_, row) => {
        const { offsets, cells, columns } = table.provenance;
        return Array.from({ length: (offsets[row + 1] as number) - (offsets[row] as number) }, (_, n) => {
          const k = (offsets[row] as number) + n;
          const cell = cells[k] as number;
          return { row, column: columns[k] as number, sheetRow: grid.rows[cell] as number, sheetColumn: grid.columns[cell] as number };
        });
      }),
    }));
    return { name, tables: placed };
  });
}
