import { requireWorkbook } from '../../activities/access.ts';
import { readRange } from '../../activities/range/readRange.ts';
import { prepareRangeWrite } from '../../activities/range/writeRange.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import { requireFreshTable } from '../../activities/transforms/requireFreshTable.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentOutcome } from '../presenters/edits.ts';
import { answerEdit } from './answerEdit.ts';

export function makeRangeHandlers({ services }: ApiParts): Handlers<'readRange' | 'writeRange'> {
  return {
    async readRange({ principal, params, query }) {
      const at = await requireFreshTable(services, principal, params);
      const body = await readRange(services, await openVisibleTable(services, principal, at), query.range);
      return { status: 200, validator: { version: at.editVersion }, body };
    },

    async writeRange(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { range, values, expected_version: expectedVersion, rebase = false, actor } = call.body;
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion, rebase };
      const prepare = () => prepareRangeWrite(services, call.principal, request, range, values);
      return answerEdit(services, call, actor, { prepare }, (edit, outcome) => ({
        status: 200,
        body: { range: edit.range, values: edit.values, ...presentOutcome(outcome) },
      }));
    },
  };
}
