import type { Cells } from './table.ts';

/** A change of one row, as it goes into the log: the whole row after it, what changed, and what that was before. */
export interface LogEntry {
  /** Negative: the n-th new row, numbered by the database. */
  rowId: number;
  op: 'I' | 'U' | 'D';
  /** Column ids. */
  changed: number[];
  /** Null when the row was removed. */
  cells: Cells | null;
  before: Cells | null;
}

/** An entry as it is read back, with the version that it made. */
export interface LogRow extends LogEntry {
  editVersion: number;
}

/** An entry, and the layer of the version read that it belongs to. */
export interface LayeredEntry extends LogRow {
  layer: number;
}
