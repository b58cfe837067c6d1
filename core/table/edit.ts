import type { OpKind } from '../journal/opKinds.ts';
import type { LogEntry } from './log.ts';
import type { Layer, PlannedLayer, TableAt } from './table.ts';

/** A file that an edit has written, before the number of its version is known. */
export interface WrittenLogFile {
  key: string;
  kind: 'delta' | 'insert' | 'log';
  rows: number;
  minRow: number;
  maxRow: number;
  bytes: number;
}

/** What an edit does to a table, worked out before the transaction begins. */
export interface PlannedEdit {
  kind: OpKind;
  inserted: number;
  updated: number;
  deleted: number;
  entries: LogEntry[];
  /** New layers for an edit that changes what the table is made of. */
  layers: PlannedLayer[] | null;
  schemaChanged: boolean;
  /** Written as a file instead of `entries`: one more layer of the table, and what history reads. */
  appended?: { layer: Layer; file: WrittenLogFile };
  detail?: Record<string, unknown>;
}

/** An edit that is ready for its transaction. */
export interface PreparedEdit {
  at: TableAt;
  plan: PlannedEdit;
  /** In the order of the request; negative ones are new rows, counted from -1. */
  rowIds: number[];
}

/** The id under which a row is stored. New rows, which a plan counts from -1, get the next ids in that order. */
export function numberRow(rowId: number, firstNewId: number): number {
  return rowId < 0 ? firstNewId - rowId - 1 : rowId;
}

export function numberRows(rowIds: readonly number[], firstNewId: number): number[] {
  return rowIds.map((id) => numberRow(id, firstNewId));
}

/** An edit of rows: its entries, counted. */
export function planRowEdit(kind: OpKind, entries: LogEntry[], detail?: PlannedEdit['detail']): PlannedEdit {
  const count = { I: 0, U: 0, D: 0 };
  for (const entry of entries) count[entry.op] += 1;
  return { kind, inserted: count.I, updated: count.U, deleted: count.D, entries, layers: null, schemaChanged: false, detail };
}

/** An edit of columns: no row has an entry in the log. */
export function planColumnEdit(kind: OpKind, detail: NonNullable<PlannedEdit['detail']>): PlannedEdit {
  return { kind, inserted: 0, updated: 0, deleted: 0, entries: [], layers: null, schemaChanged: true, detail };
}
