import { requireWorkbook } from '../../activities/access.ts';
import { compactWhenLong } from '../../activities/compaction/startCompaction.ts';
import { readRange } from '../../activities/range/readRange.ts';
import { prepareRangeWrite } from '../../activities/range/writeRange.ts';
import { applyEdit, retryOnMove } from '../../activities/tables/editTable.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import type { Handlers } from '../http/call.ts';
import type { Plant } from '../http/pipeline.ts';

export function makeRangeHandlers({ services }: Plant): Handlers<'readRange' | 'writeRange'> {
  return {
    async readRange({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const at = await requireTable(services, workbook.id, params.name);
      const body = await readRange(services, principal, at, query.range);
      return { status: 200, headers: { ETag: `"${at.editVersion}"` }, body };
    },

    async writeRange(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { range, values, expected_version: expectedVersion, rebase = false, actor } = call.body;
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion, rebase };
      return retryOnMove(async () => {
        const prepared = await prepareRangeWrite(services, call.principal, request, range, values);
        const reply = await call.write(
          call.actor(actor),
          (tx) => applyEdit(tx, prepared.at, prepared.plan),
          (edited, marks) => ({
            status: 200,
            headers: { ETag: `"${edited.editVersion}"` },
            body: {
              range: prepared.range,
              values: prepared.values,
              edit_version: edited.editVersion,
              op_id: marks.get(workbook.id)?.firstOp ?? 0,
              stale: [],
            },
          }),
        );
        compactWhenLong(services, prepared.at.table, prepared.at.table.tailCount + prepared.plan.entries.length);
        return reply;
      });
    },
  };
}
