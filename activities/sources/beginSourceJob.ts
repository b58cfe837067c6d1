import { DomainError, notFound } from '../../core/errors.ts';
import type { JobTypes } from '../../core/jobs/kinds.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import { lockSource, type SourceRecord } from '../../store/pg/sources.ts';
import { beginJob } from '../jobs/beginJob.ts';

/** Runs inside the transaction. Refuses if another job works on the source. */
export async function requireIdle(tx: Tx, sourceId: string): Promise<SourceRecord> {
  const source = await lockSource(tx, sourceId);
  if (!source) throw notFound('source in this workbook');
  const running = source.jobId === null ? null : await findJob(tx.orm, source.jobId);
  if (running && running.finishedAt === null) throw sourceBusy();
  return source;
}

export function sourceBusy(): DomainError {
  return new DomainError('in-use', 'An ingest of this source is running.', 'Wait for its job to end, or cancel it.');
}

/** Runs inside the transaction. Registers a job for a source, in the name of who asks. `announce`: it is answered before it ends. */
export async function beginSourceJob<Kind extends 'ingest' | 'file_link' | 'analyze' | 'materialize'>(
  tx: Tx,
  kind: Kind,
  source: SourceRecord,
  input: JobTypes[Kind]['input'],
  announce = false,
): Promise<JobRecord<Kind>> {
  const { workbookId, accountId, id: sourceId } = source;
  return beginJob(tx, kind, { workbookId, accountId, sourceId }, input, announce);
}
