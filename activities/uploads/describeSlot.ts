import type { Orm } from '../../store/pg/database.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import { findSourceById, type SourceRecord } from '../../store/pg/sources.ts';
import type { UploadRecord } from '../../store/pg/uploads.ts';
import type { Services } from '../../store/services.ts';
import { type DescribedSource, describeSources } from '../sources/describeSources.ts';
import { slotAddress } from './signSlot.ts';

/** An upload slot and what became of the bytes sent to it. */
export interface DescribedSlot {
  upload: UploadRecord;
  /** `uploaded` while the ingest runs, and after it has failed, when another try is possible. */
  status: 'pending' | 'uploaded' | 'ingested';
  /** Where to send the bytes; null once they are there. */
  address: string | null;
  error: string | null;
  /** The source made from the bytes. */
  source: DescribedSource | null;
}

export function describeEmptySlot(services: Services, upload: UploadRecord): DescribedSlot {
  return { upload, status: 'pending', address: slotAddress(services, upload), error: null, source: null };
}

export async function describeSlot(services: Services, orm: Orm, upload: UploadRecord): Promise<DescribedSlot> {
  if (upload.sha256 === null) return describeEmptySlot(services, upload);
  const [job, source] = await Promise.all([
    upload.jobId === null ? null : findJob(orm, upload.jobId),
    upload.sourceId === null ? null : findSourceById(orm, upload.sourceId),
  ]);
  const isIngested = isDone(job, source);
  const [described = null] = isIngested && source ? await describeSources(orm, [source]) : [];
  return {
    upload,
    status: isIngested ? 'ingested' : 'uploaded',
    address: null,
    error: job?.status === 'failed' ? (job.error ?? 'The ingest failed.') : null,
    source: described,
  };
}

/** Jobs are kept for a week. A source that still exists after that has been ingested. */
function isDone(job: JobRecord | null, source: SourceRecord | null): boolean {
  return job ? job.status === 'succeeded' : source !== null;
}
