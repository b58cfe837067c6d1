import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { WriteAnswer } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { requireExpected } from '../rows/checkVersion.ts';
import { deleteTable } from './changeTable.ts';
import { retryOnMove } from './editTable.ts';
import { requireTable } from './openTable.ts';

/** Deletes a table at the version the caller expects; retries if it changed meanwhile. */
export function removeTable<Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  principal: Principal,
  request: { workbookId: string; name: string; expectedVersion: number | null },
  answer: () => Answer,
): Promise<Answer> {
  return retryOnMove(async () => {
    const at = await requireTable(services, request.workbookId, request.name);
    if (at.table.layer !== 'base')
      throw new DomainError('in-use', 'The table is the output of a transform.', 'Delete the transform, and the table goes with it.');
    await requireExpected(services, principal, at, request.expectedVersion);
    return write((tx) => deleteTable(tx, at), answer);
  });
}
