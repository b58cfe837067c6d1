import { requireWorkbook } from '../../activities/access.ts';
import { prepareDelete } from '../../activities/rows/deleteRows.ts';
import { prepareRowDelete, prepareRowUpdate } from '../../activities/rows/editRow.ts';
import { openAsked } from '../../activities/rows/openAsked.ts';
import { readRow } from '../../activities/rows/readRow.ts';
import { openRows, pageLimit } from '../../activities/rows/readRows.ts';
import { prepareUpsert } from '../../activities/rows/upsertRows.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import { estimateRowsMemory } from '../../core/table/rowBytes.ts';
import type { Handlers, Reply } from '../http/call.ts';
import { formatOf } from '../http/negotiate.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { tagRows } from '../http/rowValidators.ts';
import { wrapRows } from '../http/wrapStream.ts';
import { presentDelete, presentUpsert } from '../presenters/edits.ts';
import { presentRowsHead, presentRowsHeaders, writeRowsPage } from '../presenters/rows.ts';
import { writeRow } from '../presenters/tables.ts';
import { answerEdit } from './answerEdit.ts';
import { refuseBoth } from './refuseBoth.ts';
import { parseExpectedVersion } from './tables.ts';

/** What a page takes while it is made; less than that is not counted. */
const pageBytes = 8 * 1024 * 1024;
const littleBytes = 1024 * 1024;

type RowOperations = 'readRows' | 'upsertRows' | 'deleteRows' | 'readRow' | 'updateRow' | 'deleteRow';

export function makeRowHandlers({ services }: ApiParts): Handlers<RowOperations> {
  return {
    async readRows({ principal, params, query, type, unlessSeen, takeRoom, spool }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      refuseBoth(query, 'cursor', 'offset');
      refuseBoth(query, 'at', 'at_version');
      const at = await openAsked(services, principal.userId, workbook.id, params.name, query);
      const visible = await openVisibleTable(services, principal, at);
      const read = async (): Promise<Reply<'readRows'>> => {
        const limit = query.limit ?? 100;
        if (query.filter !== undefined || estimateRowsMemory(at, at.columns, limit) > littleBytes) await takeRoom(pageBytes);
        const page = await openRows(services, visible, { ...query, limit, userId: principal.userId });
        const { rows } = page;
        const format = formatOf(type);
        const validator = { version: at.editVersion };
        const headers = format === 'json' ? {} : presentRowsHeaders(at, page);
        if (rows && format === 'json') return { status: 200, validator, raw: { type, data: writeRowsPage(at, { ...page, rows }) } };
        if (rows && format === 'ndjson')
          return { status: 200, validator, headers, raw: { type, data: rows.map((row) => `${row}\n`).join('') } };
        const stream = await page.stream(format);
        const whole = format === 'json' ? wrapRows(presentRowsHead(at, page), stream) : stream;
        return { status: 200, validator, headers, raw: { type, ...(await spool(whole, pageLimit)) } };
      };
      // A filter may ask what time it is: then the version does not decide the page, and only its bytes tell.
      return query.filter === undefined ? unlessSeen(tagRows(visible, type, query), read) : read();
    },

    async readRow({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      refuseBoth(query, 'at', 'at_version');
      const at = await openAsked(services, principal.userId, workbook.id, params.name, query);
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
      const { expected_version: expectedVersion, rebase = false, key, rows, actor } = call.body;
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion, rebase, key };
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
