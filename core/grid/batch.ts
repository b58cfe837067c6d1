/**
 * A run of rows of a large sheet or csv, column by column. A reader yields these so that an ingest of millions of rows
 * holds one batch at a time; the arrays belong to the receiver and are not used again.
 */

export interface BatchColumn {
  /** 1-based. */
  column: number;
  /** CellKind by position in `RowBatch.rows`; 0 for blank. */
  kinds: Uint8Array;
  /** As in a Grid; null when no cell of this column in this batch is a number, boolean or date. */
  numbers: Float64Array | null;
  /** Index into `RowBatch.strings`, -1 for none; null when no cell here is a text or an error. */
  texts: Int32Array | null;
  styleIds: Uint16Array;
  /** Index into `RowBatch.formulas`, -1 for none; null when no cell here has a formula. */
  formulaIds: Int32Array | null;
}

export interface RowBatch {
  /** Sheet rows (1-based) that hold something, in the order of the file; wholly blank rows are left out. */
  rows: Uint32Array;
  /** Columns that hold something in this batch, ascending. */
  columns: BatchColumn[];
  strings: string[];
  formulas: string[];
}
