import type { JobKind } from '../../core/jobs/kinds.ts';
import { type Actor, commit, type JournalNumbers, type Tx } from '../../store/pg/commit.ts';
import { findJob, type JobRecord, lockJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { logEnd } from './logEnd.ts';

/** The job, checked to be of this kind. Null if it is over: there is nothing left to do. */
export async function openJob<Kind extends JobKind>(
  services: Services,
  jobId: string,
  ...kinds: [Kind, ...Kind[]]
): Promise<JobRecord<Kind> | null> {
  const job = await findJob(services.db.orm, jobId);
  if (!job || job.finishedAt !== null) return null;
  if (!kinds.some((kind) => kind === job.kind)) throw new Error(`job ${jobId} is of kind ${job.kind}`);
  return job as JobRecord as JobRecord<Kind>;
}

/** Runs a transaction for a job, in the name of who asked for it. Null if the job has ended meanwhile. */
export async function commitForJob<T, Kind extends JobKind>(
  services: Services,
  job: JobRecord<Kind>,
  change: (tx: Tx, job: JobRecord<Kind>) => Promise<T>,
  finish?: (tx: Tx, result: T, numbers: Map<string, JournalNumbers>) => Promise<void>,
): Promise<T | null> {
  const { id, actor } = job as JobRecord;
  const outcome = await commit(
    services,
    actor as Actor,
    async (tx) => {
      const current = await lockJob(tx, id);
      return current && current.finishedAt === null ? change(tx, current as JobRecord as JobRecord<Kind>) : null;
    },
    async (result, numbers, tx) => {
      if (result !== null) await finish?.(tx, result, numbers);
      return result;
    },
  );
  if (outcome !== null) await logEnd(services, id);
  return outcome;
}
