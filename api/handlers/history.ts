import { requireWorkbook } from '../../activities/access.ts';
import { diffTable } from '../../activities/rows/diffTable.ts';
import { requireNamedVersion } from '../../activities/rows/findVersion.ts';
import { readRowHistory } from '../../activities/rows/rowHistory.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { openVisibleHistory, openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { ChangedCell } from '../../store/tables/tableDiff.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { requireRowId } from './pathNumber.ts';

const listJson = (rows: { json: string }[]) => rows.map(({ json }) => json).join(',');

function writeCells(cells: ChangedCell[]): string {
  const list = cells.map(({ column, oldJson, newJson }) => `{"column":${JSON.stringify(column)},"old":${oldJson},"new":${newJson}}`);
  return `[${list.join(',')}]`;
}

/** Values are written as JSON below, digit for digit: the answers are put together as text. */
export function makeHistoryHandlers({ services }: ApiParts): Handlers<'getRowHistory' | 'diffTable'> {
  return {
    async getRowHistory({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const at = await requireTable(services, workbook.id, params.name);
      const rowId = requireRowId(params.row_id);
      const { changes, nextCursor } = await readRowHistory(services, await openVisibleHistory(services, principal, at), rowId, {
        cursor: query.cursor,
        limit: query.limit ?? 100,
      });
      const texts = changes.map(({ op, editVersion, kind, cells }) => {
        const head = JSON.stringify({
          op_id: op.opId,
          edit_version: editVersion,
          kind,
          actor: op.actor,
          user_id: op.userId,
          at: op.createdAt.toISOString(),
        });
        return `${head.slice(0, -1)},"cells":${writeCells(cells)}}`;
      });
      const head = JSON.stringify({ name: at.table.name, row_id: rowId, next_cursor: nextCursor });
      return { status: 200, raw: { type: 'application/json', data: `${head.slice(0, -1)},"changes":[${texts.join(',')}]}` } };
    },

    async diffTable({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const current = await requireTable(services, workbook.id, params.name);
      const from = await requireNamedVersion(services, current, query.from);
      const to = query.to === undefined ? current : await requireNamedVersion(services, current, query.to);
      const limit = query.limit ?? 1000;
      const see = (at: TableAt) => openVisibleTable(services, principal, at);
      const [before, after] = await Promise.all([see(from), see(to)]);
      const { inserted, updated, deleted, counts } = await diffTable(services, before, after, limit);
      const head = JSON.stringify({
        name: current.table.name,
        from: from.editVersion,
        to: to.editVersion,
        inserted_count: counts.inserted,
        updated_count: counts.updated,
        deleted_count: counts.deleted,
        truncated: Math.max(counts.inserted, counts.updated, counts.deleted) > limit,
      });
      const rows = updated.map(({ rowId, cells }) => `{"row_id":${rowId},"cells":${writeCells(cells)}}`);
      const lists = `"inserted":[${listJson(inserted)}],"updated":[${rows.join(',')}],"deleted":[${listJson(deleted)}]`;
      return { status: 200, raw: { type: 'application/json', data: `${head.slice(0, -1)},${lists}}` } };
    },
  };
}
