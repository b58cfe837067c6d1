import type { ExportedFile, ExportFormat, ExportWanted } from '../../activities/export/exportTables.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { components } from '../../schema/contract.ts';
import type { ListedBranch } from '../../store/pg/branches.ts';
import { encodeNames, presentAttachment } from './formats.ts';

export const branchHeader = 'X-SVC-Branch-Id';

const types: Record<ExportFormat, string> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/x-ndjson',
};

export function exportType(format: ExportFormat, isZip: boolean): string {
  return isZip ? 'application/zip' : types[format];
}

type Shown = Pick<ExportWanted, 'branchId'> & Pick<ExportedFile, 'preservedFormulas'> & { filename: string };

export function presentExportHeaders(tables: VisibleTable[], shown: Shown): Record<string, string> {
  return {
    ...presentFileHeaders(tables, shown.filename),
    'X-SVC-Preserved-Formulas': String(shown.preservedFormulas),
    ...(shown.branchId === null ? {} : { [branchHeader]: shown.branchId }),
  };
}

/** The name of a file of tables, and what policies hide in it. */
export function presentFileHeaders(tables: VisibleTable[], filename: string): Record<string, string> {
  const masked = tables.flatMap(({ columns }) => columns.filter((column) => column.masked).map(({ name }) => name));
  const denied = tables.flatMap(({ effects }) => [...effects.values()].filter((effect) => effect === 'deny'));
  return {
    'Content-Disposition': presentAttachment(filename),
    'X-SVC-Masked-Columns': encodeNames([...new Set(masked)]),
    'X-SVC-Denied-Columns': String(denied.length),
  };
}

export function presentBranch(branch: ListedBranch): components['schemas']['Branch'] {
  return {
    id: branch.id,
    table: branch.tableName,
    base_version: branch.baseVersion,
    row_count: branch.rowCount,
    format: branch.format,
    filename: branch.filename,
    actor: branch.actor,
    created_at: branch.createdAt.toISOString(),
    last_merged_at: branch.lastMergedAt?.toISOString() ?? null,
  };
}
