import type { MaterializeResult } from '../../core/jobs/sourceJobs.ts';
import { sourceMaterialized } from '../../core/journal/sourceNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import { succeedJob } from '../jobs/endJob.ts';

/** Runs inside the transaction: the tables are made, or the rows appended. */
export async function endMaterialize(
  tx: Tx,
  job: JobRecord<'materialize'>,
  source: SourceRecord,
  result: MaterializeResult,
): Promise<void> {
  await updateSource(tx, source.id, {
    status: 'materialized',
    structuring: source.mode === 'staged' ? 'off' : source.structuring,
    jobId: null,
  });
  tx.note(source.workbookId, sourceMaterialized(source, result.tableIds.length));
  await succeedJob(tx, job, result);
}
