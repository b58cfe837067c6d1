import type { PageRow } from './fetchRows.ts';

export interface ChangedCell {
  column: string;
  /** The texts of JSON values. */
  oldJson: string;
  newJson: string;
}

export interface UpdatedRow {
  rowId: number;
  cells: ChangedCell[];
}

/** What differs between two versions of a table. */
export interface TableDiff {
  inserted: PageRow[];
  updated: UpdatedRow[];
  deleted: PageRow[];
  /** Of all that differ, however many are listed. */
  counts: { inserted: number; updated: number; deleted: number };
}

/** Row ids count from 1: this one stands for "none". */
export const noRow = 0;
