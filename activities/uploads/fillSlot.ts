import { DomainError, notFound } from '../../core/errors.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import { lockUpload, type UploadRecord, updateUpload } from '../../store/pg/uploads.ts';
import type { receiveFile } from '../sources/receiveFile.ts';
import { registerSource } from '../sources/registerSource.ts';

/**
 * Runs inside the transaction. A slot takes bytes once: the same bytes get the same answer, others are accepted only after the
 * first have failed.
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
