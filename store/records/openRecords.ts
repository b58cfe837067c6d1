import type { RecordFormat } from '../../core/records/records.ts';
import type { BlobStore } from '../blobs/blobStore.ts';
import type { Sandbox } from '../duckdb/sandbox/sandbox.ts';
import { openLocalRecords } from './openLocalRecords.ts';
import { openParquetRecords } from './parquetRecords.ts';
import { type RecordFile, recordLimits } from './recordFile.ts';

export interface RecordsWanted {
  path: string;
  format: RecordFormat;
  accountId: string;
  signal?: AbortSignal;
  /** Only the first records are needed; others may come, too. */
  firstRows?: number;
}

/** Opens a file of records. The caller closes it. */
export async function openRecords(
  { blobs, sandbox }: { blobs: BlobStore; sandbox(): Promise<Sandbox> },
  { path, format, accountId, signal, firstRows }: RecordsWanted,
): Promise<RecordFile> {
  if (format !== 'parquet') return openLocalRecords(path, format, signal);
  return openParquetRecords(path, {
    sandbox: await sandbox(),
    userId: accountId,
    draft: await blobs.draft(),
    limits: recordLimits,
    signal,
    firstRows,
  });
}
