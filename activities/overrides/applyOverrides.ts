import { conflictResolved } from '../../core/journal/tableNotes.ts';
import type { CarriedOverrides } from '../../core/overrides/carryOverrides.ts';
import { cellKey, type OverrideChanges } from '../../core/overrides/override.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { closeOverrideConflicts, updateOverrideConflicts } from '../../store/pg/conflicts.ts';
import { storableText, writeOverrides } from '../../store/pg/overrides.ts';
import { openConflicts } from '../merge/openConflicts.ts';

interface OverriddenTable {
  id: string;
  name: string;
  workbookId: string;
  accountId: string;
}

/** Runs inside the transaction of an edit: whoever sets a cell anew has decided about the conflict that was open on it. */
export async function applyOverrides(tx: Tx, table: OverriddenTable, editVersion: number, changes: OverrideChanges): Promise<void> {
  await writeOverrides(tx, table, editVersion, changes);
  for (const [status, cells] of [
    ['acknowledged', changes.set],
    ['override_dropped', changes.dropped],
  ] as const)
    for (const id of await closeOverrideConflicts(tx, table.id, status, cells)) tx.note(table.workbookId, conflictResolved(id, status));
}

/** Runs inside the transaction of a run: what lies below overrides moved, or went. Returns the ids of the conflicts it opens. */
export async function applyCarried(tx: Tx, table: OverriddenTable, editVersion: number, carried: CarriedOverrides): Promise<string[]> {
  const set = carried.moved.map(({ override, below }) => ({ ...override, below }));
  await writeOverrides(tx, table, editVersion, { set, dropped: carried.gone });
  const changed = [...carried.moved, ...carried.gone.map((override) => ({ override, below: null }))].map(({ override, below }) => ({
    ...override,
    prior: below,
  }));
  const known = new Set((await updateOverrideConflicts(tx, table.id, editVersion, changed)).map(cellKey));
  const conflicts = changed
    .filter((cell) => !known.has(cellKey(cell)))
    .map(({ rowId, columnId, value, below, prior }) => ({ rowId, columnId, base: below, prior: storableText(prior), current: value }));
  return openConflicts(tx, table, conflicts, { kind: 'stale_override', branchId: null, editVersion });
}
