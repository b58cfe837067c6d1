/** What building gives: tables ready to land, and the evidence that nothing was lost. */

import type { ColumnType, StoredValue } from '../types/infer.ts';

export interface OutputColumn {
  name: string;
  type: ColumnType;
}

export type TableRole = 'data' | 'level' | 'computed' | 'accounts' | 'notes' | 'raw';

export interface OutputTable {
  name: string;
  role: TableRole;
  /** The sheet and the region of the ParseSpec this table came from; null for the notes of a sheet. */
  sheet: string;
  regionId: string | null;
  columns: OutputColumn[];
  rows: StoredValue[][];
  provenance: Provenance;
}

/** From each row back to the cells of the sheet: positions in the grid, those of row n from offsets[n] to offsets[n + 1]. */
export interface Provenance {
  offsets: number[];
  cells: number[];
}

export interface Finding {
  kind: 'total_mismatch' | 'not_understood' | 'conservation';
  sheet: string;
  table: string;
  cell: string;
  stated: number | null;
  computed: number | null;
  message: string;
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
}
