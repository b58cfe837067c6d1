import type { PageRow } from './fetchRows.ts';

export interface ChangedCell {
  column: string;
  /** JSON texts. */
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
  /** Counts all differences, also those that are not listed. */
  counts: { inserted: number; updated: number; deleted: number };
}

/** No row has this id: row ids count from 1. */
export const noRow = 0;
