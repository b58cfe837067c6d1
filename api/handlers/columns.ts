import { requireWorkbook } from '../../activities/access.ts';
import { prepareAddColumn, prepareDropColumn, prepareRenameColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange, type ColumnRequest, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { prepareRetypeColumn } from '../../activities/columns/retypeColumn.ts';
import type { components } from '../../schema/contract.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { commitEdit, type EditNumbers } from './commitEdit.ts';
import { parseExpectedVersion } from './tables.ts';

type ColumnChange = components['schemas']['ColumnChange'];

const present = ({ at, column, type }: PreparedColumnChange, numbers: EditNumbers): ColumnChange => ({
  name: at.table.name,
  column,
  type,
  ...numbers,
  stale: [],
  broken: [],
});

export function makeColumnHandlers({ services }: ApiParts): Handlers<'addColumn' | 'alterColumn' | 'dropColumn'> {
  return {
    async addColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, actor, ...wanted } = call.body;
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return commitEdit(
        services,
        call,
        actor,
        () => prepareAddColumn(services, call.principal, request, wanted),
        (prepared) => (tx) => applyColumnChange(tx, prepared),
        (prepared, numbers) => ({ status: 201, body: present(prepared, numbers) }),
      );
    },

    async alterColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, actor, new_name: newName, type } = call.body;
      const { column } = call.params;
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return commitEdit(
        services,
        call,
        actor,
        () =>
          newName == null
            ? prepareRetypeColumn(services, call.principal, request, column, type ?? '')
            : prepareRenameColumn(services, call.principal, request, column, newName),
        (prepared) => (tx) => applyColumnChange(tx, prepared),
        (prepared, numbers) => ({ status: 200, body: present(prepared, numbers) }),
      );
    },

    async dropColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const expectedVersion = parseExpectedVersion(call.query.expected_version);
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return commitEdit(
        services,
        call,
        call.query.actor,
        () => prepareDropColumn(services, call.principal, request, call.params.column),
        (prepared) => (tx) => applyColumnChange(tx, prepared),
        (prepared, numbers) => ({ status: 200, body: present(prepared, numbers) }),
      );
    },
  };
}
