import { explainFailure, isOver } from '../../core/jobs/endings.ts';
import { announceJob, findJobVersion, type JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';

export interface Waiting {
  /** By default as long as a caller waits who did not ask for a job. */
  patienceMs?: number;
  isReady?: (job: JobRecord) => boolean;
  signal?: AbortSignal;
}

/**
 * Waits until the job is over or `isReady`, at most `patienceMs`, or until the process stops. Looks at the job's row instead of
 * the workflow: it is written together with the effect, and can be read while Temporal is down.
 */
export async function watchJob(services: Services, jobId: string, waiting: Waiting = {}): Promise<JobRecord | null> {
  const until = Date.now() + (waiting.patienceMs ?? services.config.answerWaitMs);
  for (;;) {
    const seen = await findJobVersion(services.db.orm, jobId);
    const left = until - Date.now();
    if (!seen || isOver(seen.job) || waiting.isReady?.(seen.job) || left <= 0 || waiting.signal?.aborted) return seen?.job ?? null;
    if (!(await services.jobWatch.waitForChange(jobId, seen.version, left, waiting.signal))) return seen.job;
  }
}

/** The same for those who want the result: throws the refusal of a failed job. */
async function awaitJob(services: Services, jobId: string, waiting: Waiting = {}): Promise<JobRecord | null> {
  const job = await watchJob(services, jobId, waiting);
  if (job?.status === 'failed' && waiting.patienceMs !== 0) throw explainFailure(job);
  return job;
}

/** The same for a request that is answered with the job itself if that takes too long: then the end of the job is published. */
export async function awaitOrAnnounce(services: Services, jobId: string, waiting: Waiting): Promise<JobRecord | null> {
  const job = await awaitJob(services, jobId, waiting);
  if (!job || isOver(job) || job.announce || waiting.isReady?.(job) || (await announceJob(services.db.orm, jobId))) return job;
  // It has ended in this moment, so there is a result after all.
  return awaitJob(services, jobId, waiting);
}
