import { tableMerged } from '../../core/journal/tableNotes.ts';
import { mostPlanned } from '../../core/merge/limits.ts';
import type { MergeConflict } from '../../core/merge/planMerge.ts';
import type { LogEntry } from '../../core/table/log.ts';
import type { ColumnRecord } from '../../core/table/table.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import { touchBranch } from '../../store/pg/branches.ts';
import type { Tx, WriteAnswer } from '../../store/pg/commit.ts';
import type { EditedTable } from '../../store/pg/tableEdits.ts';
import { holdTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { commitEdits } from '../tables/commitEdit.ts';
import { applyEdit } from '../tables/editTable.ts';
import { openConflicts } from './openConflicts.ts';
import type { PreparedMerge } from './prepareMerge.ts';

/** What came of the merge of one table. */
export interface MergeOutcome {
  name: string;
  editVersion: number;
  /** Null: nothing changed. */
  opId: number | null;
  inserted: number;
  updated: number;
  deleted: number;
  /** Ids of the conflicts that were opened. */
  conflicts: string[];
  unchanged: number;
  /** Where nothing was written: the first rows that would change, and conflicts that would be opened. */
  planned?: { changes: PlannedChange[]; conflicts: PlannedConflict[] };
}

/** A row that a merge would change, in the columns of the file. */
export interface PlannedChange {
  /** Null for a new row. */
  rowId: number | null;
  kind: 'insert' | 'update' | 'delete';
  cells: { column: ColumnRecord; before: string | null; after: string | null }[];
}

export interface PlannedConflict extends MergeConflict {
  column: ColumnRecord;
}

/** What would come of it. */
export function foretell(merge: PreparedMerge): MergeOutcome {
  const columns = new Map([rowIdField, ...merge.at.columns].map((column) => [column.id, column]));
  const conflicts = merge.conflicts.slice(0, mostPlanned).flatMap((conflict) => {
    const column = columns.get(conflict.columnId);
    return column ? [{ ...conflict, column }] : [];
  });
  const changes = merge.firstEntries.map((entry) => foretellRow(entry, merge.columns));
  return { ...describe(merge, merge.at.editVersion, null, []), planned: { changes, conflicts } };
}

const kinds = { I: 'insert', U: 'update', D: 'delete' } as const;

function foretellRow({ rowId, op, changed, cells, before }: LogEntry, columns: ColumnRecord[]): PlannedChange {
  const sides = columns
    .filter(({ id }) => changed.includes(id))
    .map((column) => ({ column, before: before?.[column.id] ?? null, after: cells?.[column.id] ?? null }));
  // A row that comes or goes has its values on one side; those that it lacks say nothing.
  const told = op === 'U' ? sides : sides.filter(({ before: was, after }) => was !== null || after !== null);
  return { rowId: rowId > 0 ? rowId : null, kind: kinds[op], cells: told };
}

/** Applies merges, all or none, in one transaction. All tables are locked before what is made from them is marked. */
export function commitMerges<Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  prepare: () => Promise<PreparedMerge[]>,
  answer: (outcomes: MergeOutcome[]) => Answer,
): Promise<Answer> {
  return commitEdits(
    services,
    write,
    {
      prepare,
      change: (merges) => async (tx) => {
        const applied = new Map<PreparedMerge, Applied>();
        let edits = 0;
        await holdTables(tx, { changed: merges.map(({ at }) => at.table.id), read: [] });
        for (const merge of merges) {
          const { edited, conflictIds } = await applyMerge(tx, merge);
          applied.set(merge, { edited, conflictIds, op: edits });
          if (edited) edits += 1;
        }
        return merges.map((merge) => applied.get(merge) as Applied);
      },
      countTails: (applied) => applied.map(({ edited }) => edited?.tailCount ?? null),
    },
    (merges, applied, numbers) =>
      answer(
        merges.map((merge, i) => {
          const { edited, conflictIds, op } = applied[i] as Applied;
          const firstOp = numbers.get(merge.at.table.workbookId)?.firstOp ?? 0;
          return describe(merge, edited?.editVersion ?? merge.at.editVersion, edited && firstOp + op, conflictIds);
        }),
      ),
  );
}

interface Applied {
  /** Null: there was nothing to change. */
  edited: EditedTable | null;
  conflictIds: string[];
  /** Its place among the ops of the transaction. */
  op: number;
}

async function applyMerge(tx: Tx, merge: PreparedMerge): Promise<Omit<Applied, 'op'>> {
  const { at, plan, branch, conflicts } = merge;
  const { table } = at;
  const changes = plan.inserted + plan.updated + plan.deleted;
  const edited = changes > 0 ? await applyEdit(tx, at, plan) : null;
  const editVersion = edited?.editVersion ?? at.editVersion;
  const conflictIds = await openConflicts(tx, table, conflicts, { kind: 'overwrite', branchId: branch.id, editVersion });
  await touchBranch(tx, branch.id, table.id);
  tx.note(table.workbookId, tableMerged(table, editVersion, branch.id, conflictIds.length));
  return { edited, conflictIds };
}

function describe({ at, plan, unchanged }: PreparedMerge, editVersion: number, opId: number | null, conflicts: string[]): MergeOutcome {
  const { inserted, updated, deleted } = plan;
  return { name: at.table.name, editVersion, opId, inserted, updated, deleted, conflicts, unchanged };
}
