import { sameValue } from '../cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import { fillDefaults } from './cells.ts';
import type { LogEntry } from './log.ts';
import type { Cells, ColumnRecord } from './table.ts';

/** The entries that undo an op, or by row the cells that prevent it. */
export type UndoPlan = { kind: 'planned'; entries: LogEntry[] } | { kind: 'conflicts'; cells: Map<number, Set<number>> };

/** The table on which an op is undone. */
interface Present {
  columns: ColumnRecord[];
  types: ReadonlyMap<number, ColumnType>;
  allIds: number[];
}

/**
 * Inverts an op on top of the current version. `current` are its rows as they are now, `touched` the cells that later edits
 * changed.
 */
export function planUndo(
  columns: ColumnRecord[],
  entries: LogEntry[],
  current: ReadonlyMap<number, Cells>,
  touched: ReadonlyMap<number, ReadonlySet<number>>,
): UndoPlan {
  const present: Present = {
    columns,
    types: new Map(columns.map((column) => [column.id, parseColumnType(column.type) as ColumnType])),
    allIds: columns.map((column) => column.id),
  };
  const inverse: LogEntry[] = [];
  const conflicts = new Map<number, Set<number>>();
  for (const entry of entries) {
    const row = current.get(entry.rowId) ?? null;
    const cells = findConflicts(present, entry, row, touched.get(entry.rowId) ?? null);
    if (cells.length > 0) conflicts.set(entry.rowId, new Set(cells));
    else inverse.push(...invertEntry(present, entry, row));
  }
  return conflicts.size > 0 ? { kind: 'conflicts', cells: conflicts } : { kind: 'planned', entries: inverse };
}

/**
 * The cells of an entry that cannot be undone: their column is gone, a later edit changed them, or they do not hold what the op
 * wrote (a restore changes rows without log entries).
 */
function findConflicts(present: Present, entry: LogEntry, current: Cells | null, touched: ReadonlySet<number> | null): number[] {
  const { types, allIds } = present;
  const hasEnded = (id: number) => !types.has(id);
  const holdsOther = (id: number, row: Cells) => {
    const type = types.get(id);
    return type !== undefined && !sameValue(type, entry.cells?.[id] ?? null, row[id] ?? null);
  };
  switch (entry.op) {
    case 'D':
      if (current || touched) return entry.changed;
      return entry.changed.filter((id) => (entry.before?.[id] ?? null) !== null && hasEnded(id));
    case 'I':
      if (!current) return entry.changed.length > 0 ? entry.changed : allIds;
      return [
        ...new Set([...entry.changed.filter(hasEnded), ...(touched ?? []), ...entry.changed.filter((id) => holdsOther(id, current))]),
      ];
    case 'U':
      if (!current) return entry.changed;
      return entry.changed.filter((id) => hasEnded(id) || touched?.has(id) || holdsOther(id, current));
  }
}

function invertEntry({ columns, allIds }: Present, entry: LogEntry, current: Cells | null): LogEntry[] {
  const { rowId, changed } = entry;
  switch (entry.op) {
    case 'I':
      return [{ rowId, op: 'D', changed: allIds, cells: null, before: current }];
    case 'D': {
      // Columns added since show their default, as in all older rows.
      const cells = fillDefaults(columns, entry.before ?? {});
      return [{ rowId, op: 'I', changed: allIds.filter((id) => cells[id] !== null), cells, before: null }];
    }
    case 'U': {
      if (changed.length === 0) return [];
      const back = Object.fromEntries(changed.map((id) => [id, entry.before?.[id] ?? null]));
      const before = Object.fromEntries(changed.map((id) => [id, current?.[id] ?? null]));
      return [{ rowId, op: 'U', changed, cells: { ...current, ...back }, before }];
    }
  }
}
