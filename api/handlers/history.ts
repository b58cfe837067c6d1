import { diffTable } from '../../activities/rows/diffTable.ts';
import { requireNamedVersion } from '../../activities/rows/findVersion.ts';
import { readRowHistory } from '../../activities/rows/rowHistory.ts';
import { openVisibleHistory, openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import { requireNamedTable } from '../../activities/tables/requireNamedTable.ts';
import { requireFreshTable } from '../../activities/transforms/requireFreshTable.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { writeDiff, writeRowHistory } from '../presenters/history.ts';

export function makeHistoryHandlers({ services }: ApiParts): Handlers<'getRowHistory' | 'diffTable'> {
  return {
    async getRowHistory({ principal, params, query }) {
      const at = await requireFreshTable(services, principal, params);
      const rowId = params.row_id;
      const page = { cursor: query.cursor, limit: query.limit ?? 100 };
      const changes = await readRowHistory(services, await openVisibleHistory(services, principal, at), rowId, page);
      return { status: 200, raw: { type: 'application/json', data: writeRowHistory(at.table.name, rowId, changes) } };
    },

    async diffTable({ principal, params, query }) {
      const current = await (query.to === undefined
        ? requireFreshTable(services, principal, params)
        : requireNamedTable(services, principal, params, 'viewer'));
      const from = await requireNamedVersion(services, current, query.from);
      const to = query.to === undefined ? current : await requireNamedVersion(services, current, query.to);
      const limit = query.limit ?? 1000;
      const see = (at: TableAt) => openVisibleTable(services, principal, at);
      const [before, after] = await Promise.all([see(from), see(to)]);
      const diff = await diffTable(services, before, after, limit);
      return { status: 200, raw: { type: 'application/json', data: writeDiff(from, to, current.table.name, diff, limit) } };
    },
  };
}
