import { requireWorkbook } from '../../activities/access.ts';
import { describeSheet, describeStored, pageSheets, requireSheet } from '../../activities/sheets/describeSheets.ts';
import { checkSheet, putSheet } from '../../activities/sheets/putSheet.ts';
import { removeSheet } from '../../activities/sheets/removeSheet.ts';
import { renderSheet } from '../../activities/sheets/renderSheet.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { exportType, presentFileHeaders } from '../presenters/exports.ts';
import { presentSheet, presentSheetSummary } from '../presenters/sheets.ts';

type SheetOperations = 'listSheets' | 'getSheet' | 'putSheet' | 'deleteSheet' | 'renderSheet';

export function makeSheetHandlers({ services }: ApiParts): Handlers<SheetOperations> {
  return {
    async listSheets({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageSheets(services, workbook.id, query);
      return { status: 200, body: { sheets: page.items.map(presentSheetSummary), next_cursor: page.nextCursor } };
    },

    async getSheet({ principal, params }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const sheet = await requireSheet(services, workbook.id, params.name);
      return { status: 200, body: presentSheet(await describeSheet(services, principal, sheet)) };
    },

    async putSheet(call) {
      const { principal, params, body } = call;
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'editor');
      const wanted = { name: params.name, title: body.title ?? null, blocks: body.spec.blocks };
      const checked = await checkSheet(services, principal, workbook.id, wanted);
      return call.write(
        (tx) => putSheet(tx, workbook, checked),
        ({ sheet, isNew }) => {
          const shown = presentSheet(describeStored(sheet));
          const headers = { Location: `/api/v1/workbooks/${workbook.id}/sheets/${encodeURIComponent(sheet.name)}` };
          return isNew ? { status: 201, headers, body: shown } : { status: 200, body: shown };
        },
      );
    },

    async renderSheet({ principal, params, abandoned }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const sheet = await requireSheet(services, workbook.id, params.name);
      const file = await renderSheet(services, principal, sheet, abandoned);
      const headers = { ...presentFileHeaders(file.shown, file.filename), 'Content-Length': String(file.bytes) };
      return { status: 200, headers, raw: { type: exportType('xlsx', false), data: file.body } };
    },

    async deleteSheet(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const sheet = await requireSheet(services, workbook.id, call.params.name);
      return call.write(
        (tx) => removeSheet(tx, workbook.id, sheet),
        () => ({ status: 204 }),
      );
    },
  };
}
