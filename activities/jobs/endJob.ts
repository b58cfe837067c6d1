import type { JobProblem } from '../../core/jobs/endings.ts';
import type { JobKind, JobTypes } from '../../core/jobs/kinds.ts';
import { jobCompleted } from '../../core/journal/jobNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { finishJob, type JobRecord } from '../../store/pg/jobs.ts';
import { deleteDrafts } from '../../store/pg/sources.ts';

/** Runs inside the transaction. */
export async function succeedJob<Kind extends JobKind>(tx: Tx, job: JobRecord<Kind>, result: JobTypes[Kind]['result']): Promise<void> {
  const ended = job as JobRecord;
  await finishJob(tx, ended.id, { status: 'succeeded', result, stage: 'done' });
  await deleteDrafts(tx, ended.id);
  noteEnd(tx, ended, 'succeeded');
}

/** Runs inside the transaction. `error`: for everybody who sees the job; the problem is for who has asked for it. */
export async function failJob(tx: Tx, job: JobRecord, problem: JobProblem, error = problem.detail): Promise<void> {
  await finishJob(tx, job.id, { status: 'failed', error, problem });
  await deleteDrafts(tx, job.id);
  noteEnd(tx, job, 'failed');
}

/** `job` as it was locked, since whoever was answered early says so in its row. */
function noteEnd(tx: Tx, job: JobRecord, status: 'succeeded' | 'failed'): void {
  if (job.announce) tx.note(job.workbookId ?? job.accountId, jobCompleted(job, status));
}
