import { countAdded } from '../../core/storage/use.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import type { Change, WriteAnswer } from '../../store/pg/commit.ts';
import { type EditedTable, VersionMoved } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { requestCompaction } from '../compaction/startCompaction.ts';
import { withRoom } from '../storage/withRoom.ts';
import { commitPlan, retryOnMove } from './editTable.ts';

type Planned = Pick<PreparedEdit, 'at' | 'plan'>;

export interface Edit<Prepared extends Planned> {
  /** Plans the edit on the current version. */
  prepare(): Promise<Prepared>;
  /** Runs in the transaction; by default it applies the plan. */
  change?(prepared: Prepared): Change<EditedTable>;
}

export interface EditOutcome {
  editVersion: number;
  opId: number;
  /** The first id given to new rows. */
  firstRowId: number;
  /** Names of derived tables that are now outdated. */
  stale: string[];
}

/**
 * The one way to edit a table: plans on the current version, commits, retries if the table changed meanwhile, and requests a
 * compaction if it is over the limits. Retries hold a lock per table, and new edits wait for it: so many concurrent writers
 * take turns instead of making each other fail.
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
      const writing = withRoom(services, table.accountId, countAdded(prepared.plan), () =>
        write(change(prepared), (edited, numbers) => {
          tailCount = edited.tailCount;
          const { editVersion, firstRowId, stale } = edited;
          return answer(prepared, { editVersion, opId: numbers.get(table.workbookId)?.firstOp ?? 0, firstRowId, stale });
        }),
      );
      const answered = await writing.catch(async (error: unknown) => {
        if (error instanceof VersionMoved) turn.end ??= await services.editLocks.acquire(table.id);
        throw error;
      });
      const { layers, appended } = prepared.plan;
      requestCompaction(services, table, tailCount, appended ? [...prepared.at.layers, appended.layer] : (layers ?? prepared.at.layers));
      return answered;
    });
  } finally {
    turn.end?.();
  }
}
