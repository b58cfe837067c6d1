import type { PreparedEdit } from '../../core/table/edit.ts';
import type { Change, WriteAnswer } from '../../store/pg/commit.ts';
import { type EditedTable, VersionMoved } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { compactWhenLong } from '../compaction/startCompaction.ts';
import { commitPlan, retryOnMove } from './editTable.ts';

type Planned = Pick<PreparedEdit, 'at' | 'plan'>;

/** An edit of a table. */
export interface Edit<Prepared extends Planned> {
  /** Plans it on what is current. */
  prepare(): Promise<Prepared>;
  /** What is done in the transaction, where it is more than the plan. */
  change?(prepared: Prepared): Change<EditedTable>;
}

/** What became of an edit. */
export interface EditOutcome {
  editVersion: number;
  opId: number;
  /** The first of the ids that new rows got. */
  firstRowId: number;
  /** Names of derived tables that are behind their inputs since. */
  stale: string[];
}

/**
 * The one way to edit a table: plans on what is current, commits, starts again when the table moved on in between, and has
 * it compacted once its layers have grown many. Whoever starts again waits for the others who do, and whoever comes new
 * waits for them too: so many writers of one table get through one after the other, instead of in each other's way.
 */
export async function commitEdit<Prepared extends Planned, Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  edit: Edit<Prepared>,
  answer: (prepared: Prepared, outcome: EditOutcome) => Answer,
): Promise<Answer> {
  const turn: { end?: () => void } = {};
  const change = edit.change ?? commitPlan;
  try {
    return await retryOnMove(async () => {
      let prepared = await edit.prepare();
      const { table } = prepared.at;
      if (!turn.end && services.editLocks.isHeld(table.id)) {
        turn.end = await services.editLocks.acquire(table.id);
        prepared = await edit.prepare();
      }
      let tailCount = 0;
      const writing = write(change(prepared), (edited, numbers) => {
        tailCount = edited.tailCount;
        const { editVersion, firstRowId, stale } = edited;
        return answer(prepared, { editVersion, opId: numbers.get(table.workbookId)?.firstOp ?? 0, firstRowId, stale });
      });
      const answered = await writing.catch(async (error: unknown) => {
        if (error instanceof VersionMoved) turn.end ??= await services.editLocks.acquire(table.id);
        throw error;
      });
      const { layers, appended } = prepared.plan;
      compactWhenLong(services, table, tailCount, appended ? [...prepared.at.layers, appended.layer] : (layers ?? prepared.at.layers));
      return answered;
    });
  } finally {
    turn.end?.();
  }
}
