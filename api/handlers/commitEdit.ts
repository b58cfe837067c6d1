import { compactWhenLong } from '../../activities/compaction/startCompaction.ts';
import { type PreparedEdit, retryOnMove } from '../../activities/tables/editTable.ts';
import type { Change } from '../../store/pg/commit.ts';
import { type EditedTable, VersionMoved } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import type { Call, Reply } from '../http/call.ts';
import type { OperationId } from '../http/contract.ts';

/** What the answers to all edits have in common. */
export interface EditNumbers {
  edit_version: number;
  op_id: number;
}

/**
 * The one frame of every edit of a table: prepare on what is current, commit, start again when the table moved on in
 * between, and have it compacted once its layers have grown many. Whoever starts again waits for the others who do, and whoever
 * comes new waits for them too: so many writers of one table come through one after the other, instead of in each other's way.
 */
export async function commitEdit<Id extends OperationId, Prepared extends Pick<PreparedEdit, 'at' | 'plan'>>(
  services: Services,
  call: Call<Id>,
  actorName: string | null | undefined,
  prepare: () => Promise<Prepared>,
  change: (prepared: Prepared) => Change<EditedTable>,
  present: (prepared: Prepared, numbers: EditNumbers, edited: EditedTable) => Reply<Id>,
): Promise<Reply<Id>> {
  const turn: { end?: () => void } = {};
  try {
    return await retryOnMove(async () => {
      let prepared = await prepare();
      const { table } = prepared.at;
      if (!turn.end && services.turns.isTaken(table.id)) {
        turn.end = await services.turns.take(table.id);
        prepared = await prepare();
      }
      let tailCount = 0;
      const writing = call.write(call.actor(actorName), change(prepared), (edited, given) => {
        tailCount = edited.tailCount;
        const numbers = { edit_version: edited.editVersion, op_id: given.get(table.workbookId)?.firstOp ?? 0 };
        return { ...present(prepared, numbers, edited), headers: { ETag: `"${edited.editVersion}"` } };
      });
      const reply = await writing.catch(async (error: unknown) => {
        if (error instanceof VersionMoved) turn.end ??= await services.turns.take(table.id);
        throw error;
      });
      const { layers, appended } = prepared.plan;
      compactWhenLong(services, table, tailCount, appended ? [...prepared.at.layers, appended.layer] : (layers ?? prepared.at.layers));
      return reply;
    });
  } finally {
    turn.end?.();
  }
}
