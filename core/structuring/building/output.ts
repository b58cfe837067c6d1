/** The result of building: tables ready to be stored, and the account of where every cell went. */

import type { StoredValue } from '../../types/infer.ts';
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
  rows: StoredValue[][];
  /** Positions of the columns whose values are made (periods, numbering, joined texts): no one cell stands for such a value. */
  made: number[];
  provenance: Provenance;
}

/** From each row back to the cells of the sheet: positions in the grid, those of row n from offsets[n] to offsets[n + 1]. */
interface Provenance {
  offsets: number[];
  cells: number[];
  /** For each cell the position of the column it filled; a header cell counts for the period it gave. */
  columns: number[];
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
