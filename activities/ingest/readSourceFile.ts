import type { Grid } from '../../core/grid/grid.ts';
import type { IngestInput } from '../../core/jobs/sourceJobs.ts';
import { isRecordFormat, type RecordColumn } from '../../core/records/records.ts';
import { type CsvEncoding, type Delimiter, readCsv } from '../../store/csv/index.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import { readRecordGrid } from '../../store/records/readRecordGrid.ts';
import type { Services } from '../../store/services.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';

export type SourceFile = Pick<SourceRecord, 'blobKey' | 'format' | 'filename' | 'sha256' | 'size' | 'contentType'>;

/** The bytes to ingest: those of the source, or of its revision. */
export function fileOfIngest(source: SourceRecord, input: IngestInput): SourceFile {
  return input.revise ?? source;
}

export async function withSourceFile<T>(services: Services, file: SourceFile, work: (path: string) => Promise<T>): Promise<T> {
  const opened = await services.blobs.open([file.blobKey]);
  try {
    return await work(opened.pathOf(file.blobKey));
  } finally {
    opened.release();
  }
}

/** A file is held in memory while it is structured; larger files stay raw. */
const limits = { cellsInMemory: 5_000_000 };

/** How the bytes of a file are decoded. */
export interface Reader {
  format: SourceRecord['format'];
  encoding?: CsvEncoding;
  delimiter?: Delimiter;
}

/**
 * Reads every sheet into memory, and returns how it was read. What is not given about a text file is detected. Records are read
 * as a sheet with their names in the first row; `typed` has these names and their types.
 */
export async function readGrids(
  services: Services,
  file: SourceFile & { accountId: string },
  options: { reader?: Reader; signal?: AbortSignal } = {},
): Promise<{ grids: Grid[]; reader: Reader; typed?: RecordColumn[] }> {
  const { signal, reader } = options;
  const { format } = file;
  return withSourceFile(services, file, async (path) => {
    if (file.format === 'xlsx') return { grids: (await readWorkbook(path, { signal, limits })).sheets, reader: { format: 'xlsx' } };
    if (isRecordFormat(format)) {
      const { accountId, filename } = file;
      const { grid, columns } = await readRecordGrid(services, { path, format, accountId, filename, signal }, limits.cellsInMemory);
      return { grids: [grid], reader: { format }, typed: columns };
    }
    const { encoding, delimiter } = reader ?? {};
    const text = await readCsv(path, { filename: file.filename, encoding, delimiter, signal, limits });
    return { grids: [text.grid], reader: { format: file.format, encoding: text.encoding, delimiter: text.delimiter } };
  });
}
