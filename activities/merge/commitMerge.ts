import { tableMerged } from '../../core/journal/tableNotes.ts';
import type { MergeConflict } from '../../core/merge/planMerge.ts';
import { countAdded } from '../../core/storage/use.ts';
import type { ColumnRecord } from '../../core/table/table.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import { touchBranch } from '../../store/pg/branches.ts';
import type { Tx, WriteAnswer } from '../../store/pg/commit.ts';
import { insertConflicts, type NewConflict } from '../../store/pg/conflicts.ts';
import type { EditedTable } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import { requestCompaction } from '../compaction/startCompaction.ts';
import { withRoom } from '../storage/withRoom.ts';
import { applyEdit, retryOnMove } from '../tables/editTable.ts';
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
  /** Conflicts that would be opened, the first of them; only where nothing was written. */
  planned?: PlannedConflict[];
}

export interface PlannedConflict extends MergeConflict {
  column: ColumnRecord;
}

const mostPlanned = 100;

/** What would come of it. */
export function foretell(merge: PreparedMerge): MergeOutcome {
  const columns = new Map([rowIdField, ...merge.at.columns].map((column) => [column.id, column]));
  const planned = merge.conflicts.slice(0, mostPlanned).flatMap((conflict) => {
    const column = columns.get(conflict.columnId);
    return column ? [{ ...conflict, column }] : [];
  });
  return { ...describe(merge, merge.at.editVersion, null, []), planned };
}

/**
 * Applies merges, all or none, in one transaction. They are prepared again if one of the tables changed meanwhile. Tables are
 * locked in the order of their ids, as everywhere.
 */
export function commitMerges<Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  prepare: () => Promise<PreparedMerge[]>,
  answer: (outcomes: MergeOutcome[]) => Answer,
): Promise<Answer> {
  return retryOnMove(async () => {
    const merges = await prepare();
    const inOrder = [...merges].sort((a, b) => (a.at.table.id < b.at.table.id ? -1 : 1));
    const bytes = merges.reduce((sum, { plan }) => sum + countAdded(plan), 0);
    const [first] = merges;
    if (!first) throw new Error('there is nothing to merge');
    const { accountId, workbookId } = first.at.table;
    const tails = new Map<string, number>();
    const answered = await withRoom(services, accountId, bytes, () =>
      write(
        async (tx) => {
          const applied: { merge: PreparedMerge; edited: EditedTable | null; ids: string[] }[] = [];
          for (const merge of inOrder) applied.push({ merge, ...(await applyMerge(tx, merge)) });
          return applied;
        },
        (applied, numbers) => {
          let opId = numbers.get(workbookId)?.firstOp ?? 0;
          const outcomes = new Map<PreparedMerge, MergeOutcome>();
          for (const { merge, edited, ids } of applied) {
            if (edited) tails.set(merge.at.table.id, edited.tailCount);
            outcomes.set(merge, describe(merge, edited?.editVersion ?? merge.at.editVersion, edited ? opId++ : null, ids));
          }
          return answer(merges.map((merge) => outcomes.get(merge) as MergeOutcome));
        },
      ),
    );
    for (const { at, plan } of merges) {
      const tail = tails.get(at.table.id);
      if (tail !== undefined) requestCompaction(services, at.table, tail, plan.appended ? [...at.layers, plan.appended.layer] : at.layers);
    }
    return answered;
  });
}

async function applyMerge(tx: Tx, merge: PreparedMerge): Promise<{ edited: EditedTable | null; ids: string[] }> {
  const { at, plan, branch, conflicts } = merge;
  const { table } = at;
  const changes = plan.inserted + plan.updated + plan.deleted;
  const edited = changes > 0 ? await applyEdit(tx, at, plan) : null;
  const editVersion = edited?.editVersion ?? at.editVersion;
  const records = conflicts.map(
    (conflict): NewConflict => ({
      id: makeId('cfl'),
      workbookId: table.workbookId,
      accountId: table.accountId,
      tableId: table.id,
      branchId: branch.id,
      kind: 'overwrite',
      editVersion,
      ...conflict,
    }),
  );
  await insertConflicts(tx, records);
  await touchBranch(tx, branch.id, table.id);
  const ids = records.map(({ id }) => id);
  tx.note(table.workbookId, tableMerged(table, editVersion, branch.id, ids));
  return { edited, ids };
}

function describe({ at, plan, unchanged }: PreparedMerge, editVersion: number, opId: number | null, conflicts: string[]): MergeOutcome {
  const { inserted, updated, deleted } = plan;
  return { name: at.table.name, editVersion, opId, inserted, updated, deleted, conflicts, unchanged };
}
