import { sameValue } from '../cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import type { LogEntry } from '../table/log.ts';
import type { ColumnRecord } from '../table/table.ts';
import { cellKey, type Override, type OverrideChanges } from './override.ts';

/** What an edit does to overrides, or why a derived table does not take it: it adds or removes rows, or changes key columns. */
export type OverridePlan = { kind: 'planned'; changes: OverrideChanges } | { kind: 'rows' } | { kind: 'key'; columns: ColumnRecord[] };

/**
 * Turns an edit of a derived table into overrides. A cell that gets the value of the transform's last run has none any more.
 * `live` are the overrides of the edited cells before, `key` the ids of the key columns: rows are known by them from run to run.
 */
export function planOverrides(
  columns: ColumnRecord[],
  key: readonly number[],
  entries: readonly LogEntry[],
  live: readonly Override[],
): OverridePlan {
  if (entries.some(({ op }) => op !== 'U')) return { kind: 'rows' };
  const edited = new Set(entries.flatMap(({ changed }) => changed));
  const edits = columns.filter(({ id }) => edited.has(id) && key.includes(id));
  if (edits.length > 0) return { kind: 'key', columns: edits };
  const types = new Map(columns.map(({ id, type }) => [id, parseColumnType(type) as ColumnType]));
  const before = new Map(live.map((override) => [cellKey(override), override]));
  const changes: OverrideChanges = { set: [], dropped: [] };
  for (const { rowId, changed, cells, before: old } of entries) {
    for (const columnId of changed) {
      const known = before.get(cellKey({ rowId, columnId }));
      const value = cells?.[columnId] ?? null;
      const below = known ? known.below : (old?.[columnId] ?? null);
      if (!sameValue(types.get(columnId) as ColumnType, value, below)) changes.set.push({ rowId, columnId, value, below });
      else if (known) changes.dropped.push({ rowId, columnId, value, below });
    }
  }
  return { kind: 'planned', changes };
}
