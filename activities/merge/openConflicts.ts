import { conflictsCreated } from '../../core/journal/tableNotes.ts';
import type { MergeConflict } from '../../core/merge/planMerge.ts';
import type { TableRecord } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertConflicts, type NewConflict } from '../../store/pg/conflicts.ts';
import { makeId } from '../../store/services.ts';

/** Runs in the transaction of the version that opens the conflicts; returns their ids. */
export async function openConflicts(
  tx: Tx,
  table: Pick<TableRecord, 'id' | 'name' | 'workbookId' | 'accountId'>,
  conflicts: MergeConflict[],
  origin: Pick<NewConflict, 'kind' | 'branchId' | 'editVersion'>,
): Promise<string[]> {
  const { id: tableId, workbookId, accountId } = table;
  const records = conflicts.map((conflict): NewConflict => ({ id: makeId('cfl'), workbookId, accountId, tableId, ...origin, ...conflict }));
  await insertConflicts(tx, records);
  const ids = records.map(({ id }) => id);
  if (ids.length > 0) tx.note(workbookId, conflictsCreated(table, ids, origin.kind));
  return ids;
}
