import { describeChange, numberRow, numberRows, type PreparedEdit } from './edit.ts';
import type { LogEntry } from './log.ts';
import type { Layer } from './table.ts';

/**
 * Limits of an edit in the log. `bytesEach` is the average of its entries: readers load the whole tail at once, and it must fit
 * in memory.
 */
const mostLogged = { rows: 1000, bytes: 1_000_000, bytesEach: 16_384 };

/** Edits above the limits become a file and a layer; others stay in the log. */
export function isLargeEdit(entries: LogEntry[]): boolean {
  return entries.length > mostLogged.rows || isHeavy(entries);
}

function isHeavy(entries: LogEntry[]): boolean {
  const most = Math.min(mostLogged.bytes, mostLogged.bytesEach * entries.length);
  let bytes = 0;
  for (const { cells, before } of entries) {
    for (const values of [cells, before]) for (const value of Object.values(values ?? {})) bytes += value?.length ?? 4;
    if (bytes > most) return true;
  }
  return false;
}

export function countNewRows(entries: LogEntry[]): number {
  return entries.reduce((sum, entry) => sum + (entry.rowId < 0 ? 1 : 0), 0);
}

/** An edit ready to be written to a file. */
export interface FileEdit {
  edit: PreparedEdit;
  /** Sorted by row id; new rows have their final ids. */
  entries: LogEntry[];
  /** A segment holds only rows that no earlier layer has. A deleted row that returns under its old id needs a delta. */
  kind: 'segment' | 'delta';
}

/** Gives the new rows their ids, from the first id reserved for the edit. */
export function numberEdit({ at, plan, rowIds }: PreparedEdit, firstNewId: number): FileEdit {
  const onlyNew = plan.entries.every((entry) => entry.op === 'I' && entry.rowId < 0);
  const entries = plan.entries
    .map((entry) => (entry.rowId < 0 ? { ...entry, rowId: numberRow(entry.rowId, firstNewId) } : entry))
    .sort((a, b) => a.rowId - b.rowId);
  return { edit: { at, plan, rowIds: numberRows(rowIds, firstNewId) }, entries, kind: onlyNew ? 'segment' : 'delta' };
}

/** The edit with a file in place of its entries. */
export function appendFile({ edit, entries, kind }: FileEdit, written: { key: string; bytes: number }): PreparedEdit {
  const { at, plan, rowIds } = edit;
  const rows = entries.length;
  const span = { rows, minRow: entries[0]?.rowId ?? 0, maxRow: entries.at(-1)?.rowId ?? 0 };
  // The commit succeeds only if the next version directly follows the one that was read, so its number is known.
  const layer: Layer =
    kind === 'segment' ? { kind, ...span, ...written } : { kind, rows, after: at.editVersion, upTo: at.editVersion + 1, ...written };
  const file = { kind: kind === 'segment' ? ('insert' as const) : kind, ...span, ...written };
  return { at, plan: { ...plan, entries: [], appended: { layer, file }, change: describeChange(plan) }, rowIds };
}
