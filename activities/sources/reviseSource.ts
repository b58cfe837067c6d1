import { sourceRevised } from '../../core/journal/sourceNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import { listMade, refuseEdited } from '../ingest/listMade.ts';
import { beginSourceJob, requireIdle } from './beginSourceJob.ts';
import type { receiveFile } from './receiveFile.ts';

type Received = Awaited<ReturnType<typeof receiveFile>>;

/**
 * Inside the transaction: new bytes for a source. Bytes it has already change nothing; a staged source just takes them; for
 * others an ingest begins that gives their tables the next version.
 */
export async function reviseSource(tx: Tx, sourceId: string, file: Received): Promise<{ source: SourceRecord; job: JobRecord | null }> {
  const source = await requireIdle(tx, sourceId);
  if (file.sha256 === source.sha256) return { source, job: null };
  const bytes = {
    blobKey: file.blobKey,
    sha256: file.sha256,
    size: file.size,
    contentType: file.contentType,
    format: file.format,
    // The name stays: it is what the tables are named by.
    filename: source.filename,
  };
  tx.note(source.workbookId, sourceRevised(source));
  if (source.mode === 'staged') {
    const fields = { ...bytes, revision: source.revision + 1, status: 'registered' as const, spec: null, extents: null };
    return { source: await updateSource(tx, source.id, fields), job: null };
  }
  refuseEdited(await listMade(tx, source.id));
  const job = await beginSourceJob(tx, 'ingest', source, {
    sourceId: source.id,
    revision: source.revision + 1,
    structuring: source.structuring === 'structured' || source.structuring === 'deferred' ? 'auto' : 'skip',
    existed: true,
    announce: false,
    revise: bytes,
  });
  return { source: await updateSource(tx, source.id, { status: 'ingesting', jobId: job.id }), job };
}
