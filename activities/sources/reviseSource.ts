import { DomainError } from '../../core/errors.ts';
import type { LinkChange } from '../../core/jobs/linkJobs.ts';
import type { IngestInput } from '../../core/jobs/sourceJobs.ts';
import { sourceRevised } from '../../core/journal/sourceNotes.ts';
import { isRecordFormat } from '../../core/records/records.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import { beginSourceJob, requireIdle } from './beginSourceJob.ts';
import type { receiveFile } from './receiveFile.ts';

type Received = Omit<Awaited<ReturnType<typeof receiveFile>>, 'workbook' | 'filename'>;

/**
 * Runs inside the transaction. New bytes for a source. The same bytes change nothing; a staged source only stores them; for
 * others an ingest makes the next version of their tables, and the next one of the tracked file that they came from.
 */
export async function reviseSource(
  tx: Tx,
  sourceId: string,
  file: Received,
  link?: LinkChange,
): Promise<{ source: SourceRecord; job: JobRecord | null }> {
  const source = await requireIdle(tx, sourceId);
  if (file.sha256 === source.sha256) return { source, job: null };
  if (isRecordFormat(file.format) !== isRecordFormat(source.format))
    throw new DomainError(
      'unsupported-media',
      `The source is ${source.format}; ${file.format} cannot replace it.`,
      'Send a file of the same kind, or upload this one as a source of its own.',
    );
  const bytes = {
    blobKey: file.blobKey,
    sha256: file.sha256,
    size: file.size,
    contentType: file.contentType,
    format: file.format,
    // The name stays, because the tables are named after it.
    filename: source.filename,
  };
  tx.note(source.workbookId, sourceRevised(source));
  if (source.mode === 'staged') {
    const fields = { ...bytes, revision: source.revision + 1, status: 'registered' as const, spec: null, extents: null };
    return { source: await updateSource(tx, source.id, fields), job: null };
  }
  const input: IngestInput = {
    sourceId: source.id,
    revision: source.revision + 1,
    structuring: source.structuring === 'structured' || source.structuring === 'deferred' ? 'auto' : 'skip',
    existed: true,
    revise: bytes,
  };
  const job = link ? await beginSourceJob(tx, 'file_link', source, { ...input, link }) : await beginSourceJob(tx, 'ingest', source, input);
  return { source: await updateSource(tx, source.id, { status: 'ingesting', jobId: job.id }), job };
}
