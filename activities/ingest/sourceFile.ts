import type { Grid } from '../../core/grid/grid.ts';
import { readCsv } from '../../store/csv/index.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import type { IngestInput } from './job.ts';

export type SourceFile = Pick<SourceRecord, 'blobKey' | 'format' | 'filename' | 'sha256' | 'size' | 'contentType'>;

/** The bytes that an ingest is about: the source's own, or those that are to follow them. */
export function describeFile(source: SourceRecord, input: IngestInput): SourceFile {
  return input.revise ?? source;
}

/** Where the names of tables come from: the source's name, which carries a suffix where a file name repeats. */
export function nameOf(source: SourceRecord): string {
  return source.name;
}

export async function withFile<T>(services: Services, file: SourceFile, work: (path: string) => Promise<T>): Promise<T> {
  const opened = await services.blobs.open([file.blobKey]);
  try {
    return await work(opened.pathOf(file.blobKey));
  } finally {
    opened.release();
  }
}

/** Every sheet of the file, held in memory. */
export async function readGrids(services: Services, file: SourceFile, signal?: AbortSignal): Promise<Grid[]> {
  return withFile(services, file, async (path) =>
    file.format === 'xlsx'
      ? (await readWorkbook(path, { signal })).sheets
      : [(await readCsv(path, { filename: file.filename, signal })).grid],
  );
}
