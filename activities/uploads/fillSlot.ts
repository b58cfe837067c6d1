import { DomainError, notFound } from '../../core/errors.ts';
import type { Actor, Tx } from '../../store/pg/commit.ts';
import type { Orm } from '../../store/pg/database.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import { findSourceById, type SourceRecord } from '../../store/pg/sources.ts';
import { findUpload, lockUpload, type UploadRecord, updateUpload } from '../../store/pg/uploads.ts';
import { findWorkbook, type WorkbookRecord } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import type { receiveFile } from '../sources/receiveFile.ts';
import { registerSource } from '../sources/registerSource.ts';

/** A slot, and what came of the bytes that were sent to it. */
export interface DescribedUpload {
  upload: UploadRecord;
  job: JobRecord | null;
  source: SourceRecord | null;
}

export async function describeSlot(orm: Orm, upload: UploadRecord): Promise<DescribedUpload> {
  const [job, source] = await Promise.all([
    upload.jobId === null ? null : findJob(orm, upload.jobId),
    upload.sourceId === null ? null : findSourceById(orm, upload.sourceId),
  ]);
  return { upload, job, source };
}

/** `uploaded` as long as the ingest runs, and when it has failed: then another try is possible. */
export function slotStatus({ upload, job, source }: DescribedUpload): 'pending' | 'uploaded' | 'ingested' {
  if (upload.sha256 === null) return 'pending';
  // A job is kept for a week; a source that is still there after it has been ingested.
  const isDone = job ? job.status === 'succeeded' : source !== null;
  return isDone ? 'ingested' : 'uploaded';
}

export async function openSlot(services: Services, uploadId: string): Promise<{ upload: UploadRecord; workbook: WorkbookRecord }> {
  const upload = await findUpload(services.db.orm, uploadId);
  const workbook = upload && (await findWorkbook(services.db.orm, upload.workbookId));
  if (!upload || !workbook) throw notFound('upload slot', 'Open another one with POST …/uploads.');
  return { upload, workbook };
}

/** The ingest is written down for who opened the slot: nobody else is known. */
export function slotActor(upload: UploadRecord, requestId: string): Actor {
  return { name: upload.actorName, userId: upload.userId, credential: upload.credential, requestId };
}

/**
 * Inside the transaction: the slot takes the bytes, once. The same bytes again are answered like the first time; others
 * are taken only after those before have failed.
 */
export async function fillSlot(
  tx: Tx,
  uploadId: string,
  file: Awaited<ReturnType<typeof receiveFile>>,
): Promise<{ upload: UploadRecord; job: JobRecord | null }> {
  const upload = await lockUpload(tx, uploadId);
  if (!upload) throw notFound('upload slot');
  const before = upload.jobId === null ? null : await findJob(tx.orm, upload.jobId);
  if (upload.sha256 !== null && before?.status !== 'failed') {
    if (upload.sha256 === file.sha256) return { upload, job: null };
    throw new DomainError('in-use', 'The slot has taken other bytes before.', 'Open another slot for another file.');
  }
  const { source, job } = await registerSource(tx, {
    ...file,
    mode: upload.mode,
    structuring: upload.structuring,
    provenance: { kind: 'upload_slot' },
    announce: true,
  });
  return { upload: await updateUpload(tx, upload.id, { sha256: file.sha256, jobId: job?.id ?? null, sourceId: source.id }), job };
}
