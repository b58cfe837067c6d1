import type { Principal } from '../../core/access/principal.ts';
import { transformDeleted } from '../../core/journal/transformNotes.ts';
import type { Tx, WriteAnswer } from '../../store/pg/commit.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import { lockGraph, type TransformRecord, updateTransform } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { requireExpected } from '../rows/checkVersion.ts';
import { deleteTable } from '../tables/changeTable.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { requireTransform } from './describeTransforms.ts';

/** Deletes a transform and its output, at the version of the output that the caller expects. */
export function removeTransform<Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  principal: Principal,
  request: { workbookId: string; name: string; expectedVersion: number | null },
  answer: () => Answer,
): Promise<Answer> {
  return retryOnMove(async () => {
    const transform = await requireTransform(services, request.workbookId, request.name);
    const at = transform.outputId === null ? null : await findCurrentTableById(services.db.pool, transform.outputId);
    if (at) await requireExpected(services, principal, at, request.expectedVersion);
    return write(async (tx) => {
      await lockGraph(tx, request.workbookId);
      await forgetTransform(tx, transform);
      if (at) await deleteTable(tx, at);
    }, answer);
  });
}

async function forgetTransform(tx: Tx, transform: TransformRecord): Promise<void> {
  await updateTransform(tx.orm, transform.id, { deletedAt: tx.at });
  tx.note(transform.workbookId, transformDeleted(transform));
}
