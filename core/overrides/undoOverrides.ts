import type { LogEntry } from '../table/log.ts';
import { cellKey, type OverriddenCell, type Override } from './override.ts';

/**
 * The entries of an op on a derived table, as they are to be undone. A cell that had no override before the op goes back to what
 * the transform gives for it now, which may have changed since.
 */
export function undoOverrides<Entry extends LogEntry>(
  entries: readonly Entry[],
  overriddenBefore: readonly OverriddenCell[],
  live: readonly Override[],
): Entry[] {
  const kept = new Set(overriddenBefore.map(cellKey));
  const now = new Map(live.map((override) => [cellKey(override), override]));
  return entries.map((entry) => {
    const { rowId, changed, before } = entry;
    const back = changed.flatMap((columnId) => {
      const key = cellKey({ rowId, columnId });
      const override = now.get(key);
      return override && !kept.has(key) ? [[columnId, override.below] as const] : [];
    });
    return back.length === 0 ? entry : { ...entry, before: { ...before, ...Object.fromEntries(back) } };
  });
}
