/** The result of building: tables ready to be stored, and the account of where every cell went. */

import type { StoredValue } from '../../types/infer.ts';
import type { CellValues } from '../sheet/cellValues.ts';
import type { Finding } from '../spec/finding.ts';

export interface OutputColumn {
  name: string;
  /** Canonical name of a type of the table store. */
  type: string;
}

export type TableRole = 'data' | 'level' | 'computed' | 'accounts' | 'notes' | 'raw';

export interface OutputTable {
  name: string;
  role: TableRole;
  /** The sheet and the region of the ParseSpec this table came from; null for the notes of a sheet. */
  sheet: string;
  regionId: string | null;
  /** A1 range of that region, or of the used cells for a raw table; null for the notes of a sheet. */
  range: string | null;
  columns: OutputColumn[];
  rowCount: number;
  /** Of each column, by row. */
  values: ValueList[];
  /** Positions of the columns whose values are made (periods, numbering, joined texts): no one cell stands for such a value. */
  made: number[];
  provenance: Provenance;
}

export type ValueList = StoredValue[] | CellValues;

/** From each row back to the cells of the sheet: positions in the grid, those of row n from offsets[n] to offsets[n + 1]. */
interface Provenance {
  offsets: ArrayLike<number>;
  cells: ArrayLike<number>;
  /** For each cell the position of the column it filled; a header cell counts for the period it gave. */
  columns: ArrayLike<number>;
}

export function rowAt({ values }: Pick<OutputTable, 'values'>, n: number): StoredValue[] {
  return values.map((list) => list.at(n) ?? null);
}

/** For few rows: of a long table they are millions of values. */
export function listRows(table: Pick<OutputTable, 'values' | 'rowCount'>): StoredValue[][] {
  return Array.from({ length: table.rowCount }, (_, n) => rowAt(table, n));
}

/** The other way round, for tables that are made row by row. */
export function byColumn(rows: StoredValue[][], width: number): Pick<OutputTable, 'values' | 'rowCount'> {
  return { rowCount: rows.length, values: Array.from({ length: width }, (_, k) => rows.map((row) => row[k]!)) };
}

/** A cell that the type wanted for its column cannot hold. */
export interface Misfit {
  regionId: string;
  /** Letters of the sheet column. */
  from: string;
  type: string;
  cell: string;
  value: string;
}

export interface Conservation {
  sheet: string;
  /** Non-empty cells of the sheet, and how they were placed. */
  cells: number;
  headers: number;
  values: number;
  labels: number;
  titles: number;
  notes: number;
  /** Cells of regions that were not chosen. */
  omitted: number;
  lost: string[];
  twice: string[];
}

export interface BuildResult {
  tables: OutputTable[];
  archivedRaw: string[];
  findings: Finding[];
  conservation: Conservation[];
  /** Sheets that stay as their raw table, with the reason. */
  rawSheets: { sheet: string; reason: string }[];
  /** Where the wanted types were somebody's wish: the first cell of each column that does not fit. */
  misfits: Misfit[];
}
