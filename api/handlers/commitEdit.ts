import { compactWhenLong } from '../../activities/compaction/startCompaction.ts';
import { type PreparedEdit, retryOnMove } from '../../activities/tables/editTable.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { EditedTable } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import type { Call, Reply } from '../http/call.ts';
import type { OperationId } from '../http/contract.ts';

/** What the answers to all edits have in common. */
export interface EditMarks {
  edit_version: number;
  op_id: number;
}

/**
 * The one frame of every edit of a table: prepare on what is current, commit, start again when the table moved on in
 * between, and have it compacted once its layers have grown many.
 */
export function commitEdit<Id extends OperationId, Prepared extends Pick<PreparedEdit, 'at' | 'plan'>>(
  services: Services,
  call: Call<Id>,
  actorName: string | null | undefined,
  prepare: () => Promise<Prepared>,
  apply: (tx: Tx, prepared: Prepared) => Promise<EditedTable>,
  present: (prepared: Prepared, marks: EditMarks, edited: EditedTable) => Reply<Id>,
): Promise<Reply<Id>> {
  return retryOnMove(async () => {
    const prepared = await prepare();
    const { table } = prepared.at;
    let tailCount = 0;
    const reply = await call.write(
      call.actor(actorName),
      (tx) => apply(tx, prepared),
      (edited, marks) => {
        tailCount = edited.tailCount;
        const numbers = { edit_version: edited.editVersion, op_id: marks.get(table.workbookId)?.firstOp ?? 0 };
        return { ...present(prepared, numbers, edited), headers: { ETag: `"${edited.editVersion}"` } };
      },
    );
    compactWhenLong(services, table, tailCount, prepared.plan.layers ?? prepared.at.layers);
    return reply;
  });
}
