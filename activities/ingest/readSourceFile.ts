import type { IngestInput } from '../../core/jobs/sourceJobs.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';

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
