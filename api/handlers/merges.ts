import { requireWorkbook } from '../../activities/access.ts';
import { commitMerges, foretell, type MergeOutcome } from '../../activities/merge/commitMerge.ts';
import { hasOverride, prepareDrop } from '../../activities/merge/dropOverride.ts';
import { type MergeWanted, readMerge } from '../../activities/merge/mergeFile.ts';
import { prepareMerge } from '../../activities/merge/prepareMerge.ts';
import { applyResolution, closeInTx, prepareRevert, requireOpen } from '../../activities/merge/resolveConflict.ts';
import { pageConflicts } from '../../activities/merge/seeConflicts.ts';
import { commitEdit } from '../../activities/tables/commitEdit.ts';
import type { ConflictStatus } from '../../store/pg/conflicts.ts';
import type { Call, Handlers, Reply } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentConflict, presentMerge } from '../presenters/conflicts.ts';

type MergeOperations = 'mergeTable' | 'syncFile' | 'listConflicts' | 'resolveConflict';

export function makeMergeHandlers({ services }: ApiParts): Handlers<MergeOperations> {
  async function merge<Id extends 'mergeTable' | 'syncFile'>(
    call: Call<Id>,
    workbookId: string,
    wanted: Omit<MergeWanted, 'workbook'>,
    options: { actor?: string | null; dryRun: boolean },
    answer: (branchId: string, outcomes: MergeOutcome[]) => Reply<Id>,
  ): Promise<Reply<Id>> {
    const workbook = await requireWorkbook(services, call.principal, workbookId, 'editor');
    const { branchId, inputs } = await readMerge(services, call.principal, { ...wanted, workbook });
    const prepare = async () => {
      const merges = [];
      for (const input of inputs) merges.push(await prepareMerge(services, input));
      return merges;
    };
    if (options.dryRun) return answer(branchId, (await prepare()).map(foretell));
    return commitMerges(services, call.writeAs(call.actor(options.actor)), prepare, (outcomes) => answer(branchId, outcomes));
  }

  return {
    async mergeTable(call) {
      const { branch_id: branchId, actor } = call.body;
      return merge(
        call,
        call.params.workbook_id,
        { table: call.params.name, branchId, file: call.file },
        { actor, dryRun: call.query.dry_run ?? false },
        (_, [outcome]) => ({
          status: 200,
          validator: { version: outcome?.editVersion ?? 0 },
          body: presentMerge(outcome as MergeOutcome),
        }),
      );
    },

    async syncFile(call) {
      const { branch_id: branchId = null, actor } = call.body;
      return merge(
        call,
        call.params.workbook_id,
        { table: null, branchId, file: call.file },
        { actor, dryRun: call.query.dry_run ?? false },
        (id, outcomes) => ({
          status: 200,
          body: { branch_id: id, tables: outcomes.map((outcome) => ({ name: outcome.name, ...presentMerge(outcome) })) },
        }),
      );
    },

    async listConflicts({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const { items, nextCursor } = await pageConflicts(services, principal, workbook.id, query);
      return { status: 200, body: { conflicts: items.map(presentConflict), next_cursor: nextCursor } };
    },

    async resolveConflict(call) {
      const { principal, params, body } = call;
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'editor');
      const conflict = await requireOpen(services, principal, workbook.id, params.conflict_id, body.action);
      const actor = call.actor(body.actor);
      const closed = { resolvedAt: new Date(), resolvedBy: actor.name };
      const close = (status: ConflictStatus, current: string | null) =>
        call.writeAs(actor)(
          (tx) => closeInTx(tx, conflict, status, current),
          () => ({
            status: 200,
            policyVersion: workbook.policyVersion,
            body: { ...presentConflict({ ...conflict, ...closed, status, current }), edit_version: null, op_id: null, stale: [] },
          }),
        );
      if (body.action === 'acknowledge') return close('acknowledged', conflict.current);
      if (body.action === 'drop_override' && !(await hasOverride(services, conflict))) return close('override_dropped', null);
      const prepare = body.action === 'revert' ? prepareRevert : prepareDrop;
      return commitEdit(
        services,
        call.writeAs(actor),
        { prepare: () => prepare(services, conflict), change: (prepared) => (tx) => applyResolution(tx, prepared) },
        ({ status, current }, { editVersion, opId, stale }) => ({
          status: 200,
          policyVersion: workbook.policyVersion,
          body: { ...presentConflict({ ...conflict, ...closed, status, current }), edit_version: editVersion, op_id: opId, stale },
        }),
      );
    },
  };
}
