import { requireWorkbook } from '../../activities/access.ts';
import { pageOps } from '../../activities/ops/pageOps.ts';
import { applyUndo, type PreparedUndo, prepareUndo } from '../../activities/rows/undoOp.ts';
import type { Edit } from '../../activities/tables/commitEdit.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentOutcome } from '../presenters/edits.ts';
import { presentOp } from '../presenters/ops.ts';
import { answerEdit } from './answerEdit.ts';

export function makeOpHandlers({ services }: ApiParts): Handlers<'listOps' | 'undoOp'> {
  return {
    async listOps({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageOps(services, workbook.id, query);
      return { status: 200, body: { ops: page.items.map(presentOp), next_cursor: page.nextCursor } };
    },

    async undoOp(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const opId = call.params.op_id;
      const edit: Edit<PreparedUndo> = {
        prepare: () => prepareUndo(services, call.principal, workbook.id, opId),
        change: (prepared) => (tx) => applyUndo(tx, prepared),
      };
      return answerEdit(services, call, null, edit, ({ at }, outcome) => ({
        status: 200,
        body: { ...presentOutcome(outcome), undone_op_id: opId, table: at.table.name },
      }));
    },
  };
}
