import { sameValue } from '../cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import type { CastRow } from './casting.ts';
import { type PlannedEdit, type PreparedEdit, planRowEdit } from './edit.ts';
import type { LogEntry } from './log.ts';
import type { Cells, ColumnRecord, TableAt } from './table.ts';

/** The edit, or the positions in the request of rows that do not exist. */
export type RowPlan = { kind: 'planned'; edit: PreparedEdit } | { kind: 'missing'; places: number[] };

/** Log entries hold the whole row after the change, and which columns changed. */
export function planUpsert(at: TableAt, rows: CastRow[], stored: ReadonlyMap<number, Cells>, detail?: PlannedEdit['detail']): RowPlan {
  const types = new Map(at.columns.map((column) => [column.id, parseColumnType(column.type) as ColumnType]));
  const missing: number[] = [];
  const entries: LogEntry[] = [];
  const rowIds: number[] = [];
  let inserted = 0;
  for (const [place, row] of rows.entries()) {
    if (row.rowId === null) {
      inserted += 1;
      entries.push({ rowId: -inserted, op: 'I', changed: row.given, cells: fillNulls(at.columns, row), before: null });
      rowIds.push(-inserted);
      continue;
    }
    const old = stored.get(row.rowId);
    if (old) entries.push(updateRow(types, row.rowId, row, old));
    else missing.push(place);
    rowIds.push(row.rowId);
  }
  if (missing.length > 0) return { kind: 'missing', places: missing };
  return { kind: 'planned', edit: { at, plan: planRowEdit('rows.upsert', entries, detail), rowIds } };
}

/** A row that is named twice is deleted once. */
export function planDelete(at: TableAt, rowIds: number[], stored: ReadonlyMap<number, Cells>): RowPlan {
  const missing = rowIds.flatMap((id, place) => (stored.has(id) ? [] : [place]));
  if (missing.length > 0) return { kind: 'missing', places: missing };
  const wanted = [...new Set(rowIds)];
  const changed = at.columns.map((column) => column.id);
  const entries = wanted.map((rowId): LogEntry => ({ rowId, op: 'D', changed, cells: null, before: stored.get(rowId) ?? null }));
  return { kind: 'planned', edit: { at, plan: planRowEdit('rows.delete', entries), rowIds: wanted } };
}

/** A whole new row; columns that were not given are null. */
function fillNulls(columns: ColumnRecord[], { cells, given }: CastRow): Cells {
  if (given.length === columns.length) return cells;
  const whole: Cells = {};
  for (const { id } of columns) whole[id] = cells[id] ?? null;
  return whole;
}

function updateRow(types: ReadonlyMap<number, ColumnType>, rowId: number, { cells, given }: CastRow, old: Cells): LogEntry {
  const changed = given.filter((id) => !sameValue(types.get(id) as ColumnType, old[id] ?? null, cells[id] ?? null));
  const before = Object.fromEntries(changed.map((id) => [id, old[id] ?? null]));
  return { rowId, op: 'U', changed, cells: { ...old, ...cells }, before };
}
