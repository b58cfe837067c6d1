import { type DomainError, problems } from '../../core/errors.ts';
import { jobCompleted } from '../../core/journal/jobNotes.ts';
import type { JobProblem } from '../../schema/index.ts';
import { type Actor, commit, type JournalNumbers, type Tx } from '../../store/pg/commit.ts';
import { findJob, finishJob, type JobRecord, lockJob, updateJob } from '../../store/pg/jobs.ts';
import { deleteDrafts } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';

/** The job, unless it is over: then there is nothing left to do. */
export async function openJob(services: Services, jobId: string): Promise<JobRecord | null> {
  const job = await findJob(services.db.orm, jobId);
  return job && job.finishedAt === null ? job : null;
}

/** A transaction of a job's own, in the name of who asked for it. Null when the job has ended meanwhile. */
export async function commitForJob<T>(
  services: Services,
  job: JobRecord,
  change: (tx: Tx, job: JobRecord) => Promise<T>,
  finish?: (tx: Tx, result: T, numbers: Map<string, JournalNumbers>) => Promise<void>,
): Promise<T | null> {
  return commit(
    services,
    job.actor as Actor,
    async (tx) => {
      const current = await lockJob(tx, job.id);
      return current && current.finishedAt === null ? change(tx, current) : null;
    },
    async (result, numbers, tx) => {
      if (result !== null) await finish?.(tx, result, numbers);
      return result;
    },
  );
}

/** Inside the transaction: the job is done. */
export async function succeed(tx: Tx, job: JobRecord, result: object, announce: boolean): Promise<void> {
  await finishJob(tx, job.id, { status: 'succeeded', result: result as Record<string, unknown>, stage: 'done' });
  await deleteDrafts(tx, job.id);
  if (announce) noteEnd(tx, job, 'succeeded');
}

/** Inside the transaction: the job ends without having done its work. */
export async function fail(tx: Tx, job: JobRecord, problem: JobProblem, announce: boolean): Promise<void> {
  await finishJob(tx, job.id, { status: 'failed', error: problem.detail, problem });
  await deleteDrafts(tx, job.id);
  if (announce) noteEnd(tx, job, 'failed');
}

function noteEnd(tx: Tx, job: JobRecord, status: 'succeeded' | 'failed'): void {
  tx.note(job.workbookId ?? job.accountId, jobCompleted(job, status));
}

export function asProblem(error: DomainError): JobProblem {
  return {
    code: error.code,
    detail: error.detail,
    suggestedFix: error.suggestedFix,
    ...(error.extras.errors ? { errors: error.extras.errors } : {}),
    ...(error.extras.members ? { members: error.extras.members } : {}),
  };
}

/** Refusals that trying again would not change. */
export function isFinal(error: DomainError): boolean {
  return problems[error.code].status < 500;
}

const reportEveryMs = 500;

/** Writes down how far a job is, now and then. */
export function reporter(services: Services, jobId: string, stage: string): (done: number, total: number | null) => void {
  let next = 0;
  return (done, total) => {
    const now = Date.now();
    if (now < next) return;
    next = now + reportEveryMs;
    updateJob(services.db.orm, jobId, { stage, done, total }).catch(() => {});
  };
}
