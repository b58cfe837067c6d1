/** What building gives: tables ready to land, and the evidence that nothing was lost. */

import type { ColumnType, StoredValue } from '../types/infer.js';

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
  /** For each row the cells of the sheet it came from, in A1 ranges. */
  cells: string[][];
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
