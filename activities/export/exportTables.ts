import type { Readable } from 'node:stream';
import { DomainError } from '../../core/errors.ts';
import { rowIdField, type VisibleTable } from '../../core/table/visibleTable.ts';
import { type Sink, spoolFile } from '../../store/blobs/spool.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { cleanFileName } from '../../store/xlsx/write/chooseNames.ts';
import { writeTableFiles } from './writeTableFiles.ts';
import { writeXlsx } from './writeXlsx.ts';

export type ExportFormat = 'xlsx' | 'csv' | 'parquet' | 'ndjson';

export interface ExportWanted {
  format: ExportFormat;
  includeRowIds: boolean;
  keepFormulas: boolean;
  csvBom: boolean;
  /** Written into a workbook, so that the file is recognised when it comes back. */
  branchId: string | null;
  signal?: AbortSignal;
}

export interface ExportedFile {
  body: Readable;
  bytes: number;
  /** Several files in a zip. */
  isZip: boolean;
  preservedFormulas: number;
}

/** Refuses wishes that do not go together. */
export function checkExport({ format, keepFormulas, branchId }: Pick<ExportWanted, 'format' | 'keepFormulas' | 'branchId'>): void {
  const errors = [
    ...(keepFormulas && format !== 'xlsx' ? [{ pointer: '/formula_mode', detail: `${format} holds no formulas` }] : []),
    ...(branchId !== null && format !== 'xlsx' && format !== 'csv'
      ? [{ pointer: '/record_branch', detail: `a file of the format ${format} cannot be merged` }]
      : []),
  ];
  if (errors.length === 0) return;
  const [{ detail } = { detail: '' }] = errors;
  throw new DomainError('validation-failed', `The wishes do not go together: ${detail}.`, 'Ask for xlsx, or leave the wish out.', {
    errors,
  });
}

/** Writes the tables to one file. Rows are read and written some at a time, whatever the size of the tables. */
export async function exportTables(services: Services, tables: VisibleTable[], wanted: ExportWanted): Promise<ExportedFile> {
  const projections = tables.map((visible): Projection => {
    // No format has rows without columns.
    const hasIds = wanted.includeRowIds || visible.columns.length === 0;
    return { visible, columns: hasIds ? [...visible.columns, rowIdField] : visible.columns };
  });
  const isZip = wanted.format !== 'xlsx' && tables.length > 1;
  const write = async (sink: Sink) =>
    wanted.format === 'xlsx'
      ? writeXlsx(services, projections, wanted, sink)
      : writeTableFiles(services, projections, { ...wanted, format: wanted.format }, sink);
  const { body, bytes, result } = await spoolFile(services.blobs, wanted.signal, write);
  return { body, bytes, isZip, preservedFormulas: result.formulas };
}

/** The name of the file: as wished, or after what is in it. It always has the ending of its format. */
export function nameFile(format: ExportFormat, tables: VisibleTable[], title: string, wished: string | null): string {
  const ending = format !== 'xlsx' && tables.length > 1 ? 'zip' : format;
  const [first] = tables;
  const name = cleanFileName(wished ?? (tables.length === 1 && first ? first.at.table.name : title));
  return name.toLowerCase().endsWith(`.${ending}`) ? name : `${name}.${ending}`;
}
