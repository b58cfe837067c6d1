import { commitEdit, type Edit, type EditOutcome } from '../../activities/tables/commitEdit.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import type { Services } from '../../store/services.ts';
import type { Call, Reply } from '../http/call.ts';
import type { OperationId } from '../http/contract.ts';

/** Commits an edit in the caller's name. The answer's ETag is the new version. */
export function answerEdit<Id extends OperationId, Prepared extends Pick<PreparedEdit, 'at' | 'plan'>>(
  services: Services,
  call: Call<Id>,
  actorName: string | null | undefined,
  edit: Edit<Prepared>,
  present: (prepared: Prepared, outcome: EditOutcome) => Reply<Id>,
): Promise<Reply<Id>> {
  return commitEdit(services, call.writeAs(call.actor(actorName)), edit, (prepared, outcome) => ({
    ...present(prepared, outcome),
    headers: { ETag: `"${outcome.editVersion}"` },
  }));
}
