import type { CastRow } from './casting.ts';
import type { LogRow } from './log.ts';
import type { ColumnRecord, TableAt } from './table.ts';

/** Cells by row: column ids, or `row` for all of them. */
export type CellSet = ReadonlyMap<number, Iterable<number> | 'row'>;

/** The cells that an upsert would write. New rows touch no existing cell. */
export function touchedCells(rows: CastRow[]): CellSet {
  return new Map(rows.flatMap((row) => (row.rowId === null ? [] : [[row.rowId, row.given] as const])));
}

/** The cells that log entries changed. Inserts and deletes change all columns of their row. */
export function changedCells(entries: Pick<LogRow, 'rowId' | 'op' | 'changed'>[], columns: ColumnRecord[]): Map<number, Set<number>> {
  const all = columns.map((column) => column.id);
  const rows = new Map<number, Set<number>>();
  for (const { rowId, op, changed } of entries) {
    const ids = rows.get(rowId) ?? new Set<number>();
    for (const id of op === 'U' ? changed : all) ids.add(id);
    rows.set(rowId, ids);
  }
  return rows;
}

/** Whether two edits have no cell in common. */
export function areDisjoint(a: CellSet, b: CellSet): boolean {
  const [fewer, more] = a.size <= b.size ? [a, b] : [b, a];
  for (const [rowId, columns] of fewer) {
    const others = more.get(rowId);
    if (others === undefined) continue;
    if (columns === 'row' || others === 'row') return false;
    const known = new Set(columns);
    for (const id of others) if (known.has(id)) return false;
  }
  return true;
}

/** The changes to a table since a version. */
export interface Changes {
  rows: Map<number, Set<number>>;
  /** There were too many changes: `rows` is incomplete. */
  truncated: boolean;
  /** Columns were added, renamed, retyped or dropped. */
  schema: boolean;
}

export const noChanges: Changes = { rows: new Map(), truncated: false, schema: false };

/** Whether an edit based on an older version may be applied to the current one: only other cells have changed since. */
export function mayRebase(at: Pick<TableAt, 'editVersion'>, expected: number, touched: CellSet, changes: Changes): boolean {
  const isOlder = expected >= 1 && expected < at.editVersion;
  return isOlder && !changes.truncated && !changes.schema && areDisjoint(touched, changes.rows);
}

export interface NamedCells {
  rowId: number;
  columns: string[];
}

/** Names the changed cells. Leaves out rows where only hidden columns changed, as listing them would reveal the change. */
export function nameCells(rows: ReadonlyMap<number, Iterable<number>>, visible: ColumnRecord[]): NamedCells[] {
  const names = new Map(visible.map((column) => [column.id, column.name]));
  return [...rows]
    .map(([rowId, columns]) => ({ rowId, columns: [...columns].flatMap((id) => names.get(id) ?? []) }))
    .filter(({ columns }) => columns.length > 0);
}
