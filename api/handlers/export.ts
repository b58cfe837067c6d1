import { requireScopes, requireWorkbook } from '../../activities/access.ts';
import { checkExport, type ExportWanted, exportTables, nameFile } from '../../activities/export/exportTables.ts';
import { openExport, reopenBranch } from '../../activities/export/openExport.ts';
import { pageBranches, recordBranch, requireBase } from '../../activities/export/recordBranch.ts';
import type { Handlers, Reply } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { branchHeader, exportType, presentBranch, presentExportHeaders } from '../presenters/exports.ts';

export function makeExportHandlers({ services }: ApiParts): Handlers<'exportTables' | 'listBranches'> {
  return {
    async exportTables(call) {
      const { principal, params, body, answered, abandoned } = call;
      const isBranch = body.record_branch ?? false;
      if (isBranch) requireScopes(principal, ['workbooks:write']);
      const workbook = await requireWorkbook(services, principal, params.workbook_id, isBranch ? 'editor' : 'viewer');
      const { format } = body;
      const branchId = isBranch ? (answered?.[branchHeader] ?? services.makeId('brn')) : null;
      const wanted: ExportWanted = {
        format,
        includeRowIds: isBranch || (body.include_row_ids ?? false),
        keepFormulas: body.formula_mode === 'preserve',
        csvBom: body.csv_bom ?? true,
        branchId,
        signal: abandoned,
      };
      checkExport(wanted);
      const tables =
        answered && branchId !== null
          ? await reopenBranch(services, principal, branchId)
          : await openExport(services, principal, workbook, body.tables);
      if (branchId !== null) requireBase(tables);
      const file = await exportTables(services, tables, wanted);
      const filename = nameFile(format, tables, workbook.title, body.filename ?? null);
      const headers = presentExportHeaders(tables, { ...wanted, ...file, filename });
      const reply = { status: 200 as const, headers };
      try {
        const kept: Reply<'exportTables'> =
          branchId === null || answered || (format !== 'xlsx' && format !== 'csv')
            ? reply
            : await call.writeAs(call.actor(body.actor))(
                (tx) => recordBranch(tx, workbook, { id: branchId, format, filename }, tables),
                () => reply,
              );
        const raw = { type: exportType(format, file.isZip), data: file.body };
        return { ...kept, headers: { ...kept.headers, 'Content-Length': String(file.bytes) }, raw };
      } catch (error) {
        file.body.destroy();
        throw error;
      }
    },

    async listBranches({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const { items, nextCursor } = await pageBranches(services, workbook.id, query);
      return { status: 200, body: { branches: items.map(presentBranch), next_cursor: nextCursor } };
    },
  };
}
