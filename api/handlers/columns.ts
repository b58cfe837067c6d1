import { requireWorkbook } from '../../activities/access.ts';
import { prepareAddColumn, prepareDropColumn, prepareRenameColumn } from '../../activities/columns/changeColumns.ts';
import {
  applyColumnChange,
  type BreakingChange,
  type ColumnRequest,
  type PreparedColumnChange,
  tellBroken,
} from '../../activities/columns/openColumn.ts';
import { prepareRetypeColumn } from '../../activities/columns/retypeColumn.ts';
import type { Edit } from '../../activities/tables/commitEdit.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentColumnChange } from '../presenters/edits.ts';
import { answerEdit } from './answerEdit.ts';
import { parseExpectedVersion } from './tables.ts';

export function makeColumnHandlers({ services }: ApiParts): Handlers<'addColumn' | 'alterColumn' | 'dropColumn'> {
  const editColumns = (principal: Principal, prepare: () => Promise<PreparedColumnChange>): Edit<BreakingChange> => ({
    prepare: async () => tellBroken(services, principal, await prepare()),
    change: (prepared) => (tx) => applyColumnChange(tx, prepared),
  });

  return {
    async addColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, actor, ...wanted } = call.body;
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      const edit = editColumns(call.principal, () => prepareAddColumn(services, call.principal, request, wanted));
      return answerEdit(services, call, actor, edit, (change, outcome) => ({ status: 201, body: presentColumnChange(change, outcome) }));
    },

    async alterColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, actor, new_name: newName, type } = call.body;
      const { column } = call.params;
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      const edit = editColumns(call.principal, () =>
        newName == null
          ? prepareRetypeColumn(services, call.principal, request, column, type ?? '')
          : prepareRenameColumn(services, call.principal, request, column, newName),
      );
      return answerEdit(services, call, actor, edit, (change, outcome) => ({ status: 200, body: presentColumnChange(change, outcome) }));
    },

    async dropColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const expectedVersion = parseExpectedVersion(call.query.expected_version);
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      const edit = editColumns(call.principal, () => prepareDropColumn(services, call.principal, request, call.params.column));
      return answerEdit(services, call, call.query.actor, edit, (change, outcome) => ({
        status: 200,
        body: presentColumnChange(change, outcome),
      }));
    },
  };
}
