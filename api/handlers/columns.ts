import { requireWorkbook } from '../../activities/access.ts';
import { prepareAddColumn, prepareDropColumn, prepareRenameColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange, type ColumnRequest, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { prepareRetypeColumn } from '../../activities/columns/retypeColumn.ts';
import { retryOnMove } from '../../activities/tables/editTable.ts';
import type { components } from '../../schema/contract.ts';
import type { Marks } from '../../store/pg/commit.ts';
import type { EditedTable } from '../../store/pg/tables.ts';
import type { Handlers } from '../http/call.ts';
import type { Plant } from '../http/pipeline.ts';
import { parseExpectedVersion } from './tables.ts';

type ColumnChange = components['schemas']['ColumnChange'];

export function makeColumnHandlers({ services }: Plant): Handlers<'addColumn' | 'alterColumn' | 'dropColumn'> {
  const present = ({ at, column, type }: PreparedColumnChange, edited: EditedTable, marks: Map<string, Marks>) => ({
    headers: { ETag: `"${edited.editVersion}"` },
    body: {
      name: at.table.name,
      column,
      type,
      edit_version: edited.editVersion,
      op_id: marks.get(at.table.workbookId)?.firstOp ?? 0,
      stale: [],
      broken: [],
    } satisfies ColumnChange,
  });

  return {
    async addColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, actor, ...wanted } = call.body;
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return retryOnMove(async () => {
        const prepared = await prepareAddColumn(services, call.principal, request, wanted);
        return call.write(
          call.actor(actor),
          (tx) => applyColumnChange(tx, prepared),
          (edited, marks) => ({ status: 201, ...present(prepared, edited, marks) }),
        );
      });
    },

    async alterColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, actor, new_name: newName, type } = call.body;
      const { column } = call.params;
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return retryOnMove(async () => {
        const prepared =
          newName == null
            ? await prepareRetypeColumn(services, call.principal, request, column, type ?? '')
            : await prepareRenameColumn(services, call.principal, request, column, newName);
        return call.write(
          call.actor(actor),
          (tx) => applyColumnChange(tx, prepared),
          (edited, marks) => ({ status: 200, ...present(prepared, edited, marks) }),
        );
      });
    },

    async dropColumn(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const expectedVersion = parseExpectedVersion(call.query.expected_version);
      const request: ColumnRequest = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return retryOnMove(async () => {
        const prepared = await prepareDropColumn(services, call.principal, request, call.params.column);
        return call.write(
          call.actor(call.query.actor),
          (tx) => applyColumnChange(tx, prepared),
          (edited, marks) => ({ status: 200, ...present(prepared, edited, marks) }),
        );
      });
    },
  };
}
