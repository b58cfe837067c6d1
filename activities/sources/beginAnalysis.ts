import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { updateSource } from '../../store/pg/sources.ts';
import { beginSourceJob, requireIdle } from './beginSourceJob.ts';

/** Runs inside the transaction. */
export async function beginAnalysis(tx: Tx, sourceId: string): Promise<JobRecord> {
  const source = await requireIdle(tx, sourceId);
  const job = await beginSourceJob(tx, 'analyze', source, { sourceId, statusBefore: source.status });
  await updateSource(tx, sourceId, { status: 'analyzing', jobId: job.id });
  return job;
}
