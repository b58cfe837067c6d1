import { requireWorkbook } from '../../activities/access.ts';
import { prepareDelete } from '../../activities/rows/deleteRows.ts';
import { prepareRowDelete, prepareRowUpdate } from '../../activities/rows/editRow.ts';
import { openAsked } from '../../activities/rows/openAsked.ts';
import { readRow } from '../../activities/rows/readRow.ts';
import { readRows } from '../../activities/rows/readRows.ts';
import type { RowsPage } from '../../activities/rows/rowsQuery.ts';
import { prepareUpsert } from '../../activities/rows/upsertRows.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import { DomainError } from '../../core/errors.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentDelete, presentUpsert } from '../presenters/edits.ts';
import { encodeNames, formatTypes } from '../presenters/formats.ts';
import { writeRow, writeRowsPage } from '../presenters/tables.ts';
import { answerEdit } from './answerEdit.ts';
import { parseExpectedVersion } from './tables.ts';

type RowOperations = 'readRows' | 'upsertRows' | 'deleteRows' | 'readRow' | 'updateRow' | 'deleteRow';

export function makeRowHandlers({ services }: ApiParts): Handlers<RowOperations> {
  return {
    async readRows({ principal, params, query, accepts }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      refuseBoth(query, 'cursor', 'offset');
      refuseBoth(query, 'at', 'at_version');
      const at = await openAsked(services, workbook.id, params.name, query);
      const page = await readRows(services, await openVisibleTable(services, principal, at), { ...query, limit: query.limit ?? 100 });
      const masked = page.columns.filter((column) => column.masked).map((column) => column.name);
      const type = accepts('application/json', formatTypes.ndjson, formatTypes.arrow);
      const validator = { version: at.editVersion };
      if (type === formatTypes.ndjson || type === formatTypes.arrow) {
        const data = type === formatTypes.arrow ? await page.stream('arrow') : page.rows.map((row) => `${row}\n`).join('');
        return { status: 200, validator, headers: presentPageHeaders(at.editVersion, page, masked), raw: { type, data } };
      }
      return { status: 200, validator, raw: { type: 'application/json', data: writeRowsPage(at, page, masked) } };
    },

    async readRow({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      refuseBoth(query, 'at', 'at_version');
      const at = await openAsked(services, workbook.id, params.name, query);
      const read = await readRow(services, await openVisibleTable(services, principal, at), params.row_id, query.columns);
      return {
        status: 200,
        validator: { version: at.editVersion },
        raw: { type: 'application/json', data: writeRow(at, params.row_id, read) },
      };
    },

    async updateRow(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, rebase = false, row, actor } = call.body;
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion, rebase };
      return answerEdit(
        services,
        call,
        actor,
        { prepare: () => prepareRowUpdate(services, call.principal, request, call.params.row_id, row) },
        (edit, outcome) => ({ status: 200, body: presentUpsert(edit, outcome) }),
      );
    },

    async deleteRow(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { rebase = false, actor } = call.query;
      const expectedVersion = parseExpectedVersion(call.query.expected_version);
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion, rebase };
      return answerEdit(
        services,
        call,
        actor,
        { prepare: () => prepareRowDelete(services, call.principal, request, call.params.row_id) },
        (edit, outcome) => ({ status: 200, body: presentDelete(edit, outcome) }),
      );
    },

    async upsertRows(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, rebase = false, rows, actor } = call.body;
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion, rebase };
      return answerEdit(
        services,
        call,
        actor,
        { prepare: () => prepareUpsert(services, call.principal, request, rows) },
        (edit, outcome) => ({ status: 200, body: presentUpsert(edit, outcome) }),
      );
    },

    async deleteRows(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { expected_version: expectedVersion, rebase = false, row_ids: rowIds, actor } = call.body;
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion, rebase };
      return answerEdit(
        services,
        call,
        actor,
        { prepare: () => prepareDelete(services, call.principal, request, rowIds) },
        (edit, outcome) => ({ status: 200, body: presentDelete(edit, outcome) }),
      );
    },
  };
}

function refuseBoth<Name extends string>(query: { [name in Name]?: unknown }, one: Name, other: Name): void {
  if (query[one] === undefined || query[other] === undefined) return;
  throw new DomainError('validation-failed', `${one} and ${other} exclude each other.`, 'Send one of them.', {
    errors: [{ pointer: `/query/${other}`, detail: `not together with ${one}` }],
  });
}

/** Headers for formats that hold only rows: what JSON would say around them. */
function presentPageHeaders(editVersion: number, page: RowsPage, masked: string[]): Record<string, string> {
  return {
    'X-SVC-Edit-Version': String(editVersion),
    'X-SVC-Row-Count': String(page.rowCount),
    'X-SVC-Masked-Columns': encodeNames(masked),
    ...(page.nextCursor === null ? {} : { 'X-SVC-Next-Cursor': page.nextCursor }),
  };
}
