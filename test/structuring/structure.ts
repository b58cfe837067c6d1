/** Runs analysis and building as `auto` does, and hands the tables out by name with rows as objects. */

import type { Grid } from '../../core/grid/grid.ts';
import { analyze, type BuildResult, build, listRows, type OutputTable, type SpecRegion } from '../../core/structuring/index.ts';
import type { StoredValue } from '../../core/types/index.ts';

export interface Structured {
  result: BuildResult;
  names: string[];
  table: (name: string) => OutputTable;
  rows: (name: string) => Record<string, unknown>[];
  columns: (name: string) => string[];
}

export function structure(grids: Grid[], fileName = 'file.xlsx'): Structured {
  const result = build(grids, analyze(grids, fileName), fileName);
  const table = (name: string): OutputTable => {
    const found = result.tables.find((candidate) => candidate.name === name);
    if (!found) throw new Error(`no table ${name}; there are ${result.tables.map((other) => other.name).join(', ')}`);
    return found;
  };
  return {
    result,
    names: result.tables.map((candidate) => candidate.name),
    table,
    rows: (name) => {
      const found = table(name);
      return listRows(found).map((row) => Object.fromEntries(found.columns.map((column, k) => [column.name, row[k]])));
    },
    columns: (name) => table(name).columns.map((column) => `${column.name} ${column.type}`),
  };
}

/** A region of a ParseSpec as somebody may have written it, with what a test says of it. */
export function makeRegion(own: Partial<SpecRegion>): SpecRegion {
  return {
    id: 'r1',
    sheet: 'Sheet1',
    range: 'A1',
    kind: 'data',
    name: '',
    header_rows: [],
    data_range: null,
    orientation: 'rows',
    columns: [],
    selected: true,
    ...own,
  };
}

/** The rows of a table that is expected to be there. */
export function rowsOf(table: OutputTable | null | undefined): StoredValue[][] {
  if (!table) throw new Error('no table');
  return listRows(table);
}
