import type { OpKind } from '../journal/opKinds.ts';
import { columnList } from '../lineage/flows.ts';
import type { Change } from '../lineage/staleness.ts';
import type { OverrideChanges } from '../overrides/override.ts';
import type { LogEntry } from './log.ts';
import type { Layer, PlannedLayer, TableAt } from './table.ts';

/** A file written by an edit whose version number is not known yet. */
export interface WrittenLogFile {
  key: string;
  kind: 'delta' | 'insert' | 'log';
  rows: number;
  minRow: number;
  maxRow: number;
  bytes: number;
}

/** The effect of an edit on a table, planned before its transaction begins. */
export interface PlannedEdit {
  kind: OpKind;
  inserted: number;
  updated: number;
  deleted: number;
  entries: LogEntry[];
  /** The new list of layers, for an edit that replaces them. */
  layers: PlannedLayer[] | null;
  schemaChanged: boolean;
  /** Replaces `entries` in a large edit: the file is a layer of the table, and history is read from it. */
  appended?: { layer: Layer; file: WrittenLogFile };
  /** What it changes, where `entries` do not tell. */
  change?: Change;
  /** What it does to overrides, on a derived table. */
  overrides?: OverrideChanges;
  detail?: Record<string, unknown>;
  /** Names what would replay the edit, if not its version. */
  codeRef?: string;
}

/** An edit that is ready for its transaction. */
export interface PreparedEdit {
  at: TableAt;
  plan: PlannedEdit;
  /** In the order of the request. Negative ids are new rows, counted from -1. */
  rowIds: number[];
}

/** The id under which a row is stored. New rows, counted from -1 in a plan, get the next free ids in that order. */
export function numberRow(rowId: number, firstNewId: number): number {
  return rowId < 0 ? firstNewId - rowId - 1 : rowId;
}

export function numberRows(rowIds: readonly number[], firstNewId: number): number[] {
  return rowIds.map((id) => numberRow(id, firstNewId));
}

export function planRowEdit(kind: OpKind, entries: LogEntry[], detail?: PlannedEdit['detail']): PlannedEdit {
  const count = { I: 0, U: 0, D: 0 };
  for (const entry of entries) count[entry.op] += 1;
  return { kind, inserted: count.I, updated: count.U, deleted: count.D, entries, layers: null, schemaChanged: false, detail };
}

/** What an edit changes for tables that are made from this one. */
export function describeChange({ change, entries }: PlannedEdit): Change {
  if (change) return change;
  return { rows: entries.some(({ op }) => op !== 'U'), columns: new Set(entries.flatMap(({ changed }) => changed)) };
}

/** Columns change without log entries. `columnId`: the column that is new, or is not what it was. */
export function planColumnEdit(kind: OpKind, columnId: number): PlannedEdit {
  const change = { rows: false, columns: new Set([columnId, columnList]) };
  return {
    kind,
    inserted: 0,
    updated: 0,
    deleted: 0,
    entries: [],
    layers: null,
    schemaChanged: true,
    change,
    detail: { column_id: columnId },
  };
}
