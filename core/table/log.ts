import type { Cells } from './table.ts';

/** A change of one row in the log: the whole row after the change, the changed columns, and their values before. */
export interface LogEntry {
  /** Negative for the n-th new row, which the database numbers. */
  rowId: number;
  op: 'I' | 'U' | 'D';
  /** Ids of the changed columns. */
  changed: number[];
  /** Null for a removed row. */
  cells: Cells | null;
  before: Cells | null;
}

/** A stored entry with the version that it made. */
export interface LogRow extends LogEntry {
  editVersion: number;
}

/** An entry with the index of its layer in the version being read. */
export interface LayeredEntry extends LogRow {
  layer: number;
}
