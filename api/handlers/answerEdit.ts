import { commitEdit, type Edit } from '../../activities/tables/commitEdit.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import type { EditOutcome } from '../../core/table/editOutcome.ts';
import type { Services } from '../../store/services.ts';
import type { Call, Reply } from '../http/call.ts';
import type { OperationId } from '../http/contract.ts';

/**
 * Commits an edit in the caller's name. The answer's ETag is the new version. `present` puts the outcome into the fields that
 * `completeAnswer` knows, and nowhere else: it may be asked before the edit is made.
 */
export function answerEdit<Id extends OperationId, Prepared extends Pick<PreparedEdit, 'at' | 'plan'>>(
  services: Services,
  call: Call<Id>,
  actorName: string | null | undefined,
  edit: Edit<Prepared>,
  present: (prepared: Prepared, outcome: EditOutcome) => Reply<Id>,
): Promise<Reply<Id>> {
  const answer = (prepared: Prepared, outcome: EditOutcome): Reply<Id> => ({
    ...present(prepared, outcome),
    headers: { ETag: `"${outcome.editVersion}"` },
    policyVersion: prepared.at.table.policyVersion,
  });
  return commitEdit(services, call.writeAs(call.actor(actorName)), edit, answer, { draft: true });
}
