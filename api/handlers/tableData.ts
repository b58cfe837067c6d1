import { requireWorkbook } from '../../activities/access.ts';
import { openAsked } from '../../activities/rows/openAsked.ts';
import { readTableData } from '../../activities/rows/readTableData.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import type { Handlers } from '../http/call.ts';
import { formatOf } from '../http/negotiate.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { tagRows } from '../http/rowValidators.ts';
import { wrapRows } from '../http/wrapStream.ts';
import { presentFileName, presentRowsHead, presentRowsHeaders } from '../presenters/rows.ts';
import { refuseBoth } from './refuseBoth.ts';

/** What is sorted and held of a table while it is sent. */
const streamBytes = 8 * 1024 * 1024;

export function makeTableDataHandlers({ services }: ApiParts): Handlers<'readTableData'> {
  return {
    async readTableData({ principal, params, query, type, unlessSeen, takeRoom }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      refuseBoth(query, 'at', 'at_version');
      const at = await openAsked(services, principal.userId, workbook.id, params.name, query);
      const visible = await openVisibleTable(services, principal, at);
      return unlessSeen(tagRows(visible, type, { whole: query.columns ?? [] }), async () => {
        const format = formatOf(type);
        await takeRoom(streamBytes);
        const { columns, stream } = await readTableData(services, visible, query, format);
        const shown = { columns, rowCount: at.rowCount, nextCursor: null };
        const headers = presentRowsHeaders(at, shown);
        if (format === 'json') {
          return { status: 200, headers, raw: { type, data: wrapRows(presentRowsHead(at, shown), stream) } };
        }
        const file = { 'Content-Disposition': presentFileName(at.table.name, format) };
        return { status: 200, headers: { ...headers, ...file }, raw: { type, data: stream } };
      });
    },
  };
}
