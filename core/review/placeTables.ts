/** Puts the tables that came from one region of a sheet together again, each cell where it stood, with the values of today. */

import { nameCell } from '../a1/address.ts';
import { isMadeUpName } from '../structuring/names/naming.ts';
import type { Place, Region, RegionColumn, Value } from './region.ts';

/** A table whose cells are known in a sheet. Four arrays of one length say where: a cell of the table, a cell of the sheet. */
export interface PlacedTable {
  name: string;
  columns: { name: string; type: string }[];
  /** By row, then by column. */
  rows: Value[][];
  rowIds: number[];
  /** The column that says which period a row is about, where the sheet had a column for each period; -1 for none. */
  periodColumn: number;
  /** Rows without any cell came after the sheet was read. */
  cells: { row: number; column: number; sheetRow: number; sheetColumn: number }[];
}

/** Where rows are put that are in no sheet: below the last row that a sheet can have. */
const firstAddedRow = 2 ** 20 + 1;

interface Filled {
  table: number;
  row: number;
  column: number;
}

export function placeTables(name: string, tables: PlacedTable[]): Region {
  const filled = new Map<number, Map<number, Filled>>();
  const fill = (sheetRow: number, sheetColumn: number, cell: Filled) => {
    const line = filled.get(sheetRow) ?? new Map<number, Filled>();
    filled.set(sheetRow, line);
    // A label that stands for several rows of a table is one cell.
    if (!line.has(sheetColumn)) line.set(sheetColumn, cell);
  };
  let nextAddedRow = firstAddedRow;
  tables.forEach((table, t) => {
    const homes = findHomes(table);
    const columnOf = new Map<number, number>();
    for (const { row, column, sheetRow, sheetColumn } of table.cells) {
      // Labels of groups and headers stand on rows of their own.
      if (sheetRow !== homes[row] || column < 0) continue;
      fill(sheetRow, sheetColumn, { table: t, row, column });
      columnOf.set(column, sheetColumn);
    }
    homes.forEach((home, row) => {
      if (home >= 0) return;
      for (const [column, sheetColumn] of columnOf)
        if (table.rows[row]?.[column] != null) fill(nextAddedRow, sheetColumn, { table: t, row, column });
      nextAddedRow += 1;
    });
  });
  const sheetRows = [...filled.keys()].sort((a, b) => a - b);
  const used = new Set([...filled.values()].flatMap((line) => [...line.keys()]));
  const blank = new Map(tables.flatMap((table) => findBlankColumns(table, used)));
  const sheetColumns = [...used, ...blank.keys()].sort((a, b) => a - b);
  const at = (row: number, column: number): Filled | undefined => {
    return filled.get(sheetRows[row] as number)?.get(sheetColumns[column] as number);
  };
  const readCell = ({ table, row, column }: Filled): Value => tables[table]?.rows[row]?.[column] ?? null;
  const columns = sheetColumns.map((sheetColumn, column): RegionColumn => {
    const cells = sheetRows.map((_, row) => at(row, column));
    const types = new Set(cells.flatMap((cell) => (cell ? [tables[cell.table]?.columns[cell.column]?.type ?? ''] : [])));
    const sample = cells.find((cell) => cell !== undefined);
    const name = sample ? nameOf(tables[sample.table] as PlacedTable, sample) : (blank.get(sheetColumn) ?? '');
    return {
      name,
      isNameless: isMadeUpName(name),
      type: types.size === 1 ? ([...types][0] as string) : null,
      values: cells.map((cell) => (cell ? readCell(cell) : null)),
    };
  });
  const locate = (row: number, column: number): Place | null => {
    const sheetRow = sheetRows[row] as number;
    const cell = sheetRow < firstAddedRow ? nameCell(sheetRow, sheetColumns[column] as number) : null;
    const own = at(row, column);
    if (own) {
      const table = tables[own.table] as PlacedTable;
      return { table: table.name, rowId: table.rowIds[own.row] as number, column: table.columns[own.column]?.name ?? '', cell };
    }
    // A blank cell belongs to the row that its neighbours belong to.
    const near = [...(filled.get(sheetRow)?.values() ?? [])].at(-1);
    const table = near && tables[near.table];
    return near && table ? { table: table.name, rowId: table.rowIds[near.row] as number, column: columns[column]?.name ?? '', cell } : null;
  };
  const isSign = (row: number, column: number) => at(row, column) !== undefined && columns[column]?.values[row] === null;
  return { name, rowCount: sheetRows.length, columns, isRaw: false, locate, isSign };
}

/** The row of the sheet that each row of a table is about: where most of its cells stand; of several, the lowest. */
function findHomes({ rows, cells }: PlacedTable): number[] {
  const counts = rows.map(() => new Map<number, number>());
  for (const { row, sheetRow } of cells) counts[row]?.set(sheetRow, (counts[row]?.get(sheetRow) ?? 0) + 1);
  return counts.map((own) => {
    let [home, most] = [-1, 0];
    for (const [sheetRow, count] of own) if (count > most || (count === most && sheetRow > home)) [home, most] = [sheetRow, count];
    return home;
  });
}

/** Columns of a table in which nothing stands, by their place in the sheet: right behind the column before, where no other is. */
function findBlankColumns({ columns, cells, periodColumn }: PlacedTable, used: Set<number>): [number, string][] {
  if (periodColumn >= 0) return [];
  const placeOf = new Map(cells.map(({ column, sheetColumn }) => [column, sheetColumn]));
  return columns.flatMap(({ name }, column): [number, string][] => {
    const place = (placeOf.get(column - 1) ?? Number.NaN) + 1;
    if (placeOf.has(column) || Number.isNaN(place) || used.has(place)) return [];
    placeOf.set(column, place);
    return [[place, name]];
  });
}

function nameOf(table: PlacedTable, { row, column }: Filled): string {
  const name = table.columns[column]?.name ?? '';
  const period = table.periodColumn < 0 ? null : table.rows[row]?.[table.periodColumn];
  const isMeasure = /^(?:BIGINT|DOUBLE|DECIMAL)/.test(table.columns[column]?.type ?? '');
  return period !== null && period !== undefined && isMeasure ? `${period}_${name}` : name;
}

/** A table that came from no sheet. */
export function regionOfTable(name: string, columns: { name: string; type: string }[], rows: Value[][], rowIds: number[]): Region {
  return {
    name,
    rowCount: rows.length,
    columns: columns.map((column, k) => ({ ...column, values: rows.map((row) => row[k] ?? null) })),
    isRaw: false,
    locate: (row, column) => ({ table: name, rowId: rowIds[row] as number, column: columns[column]?.name ?? '', cell: null }),
  };
}
