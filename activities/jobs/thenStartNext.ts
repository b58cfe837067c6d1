import { findJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { startJobs } from './startJob.ts';

type RunForJob = (jobId: string, ...more: never[]) => Promise<unknown>;

/** After an activity that has ended its job, the next job of the same user begins. */
export function thenStartNext<T extends Record<string, RunForJob>>(services: Services, activities: T): T {
  const wrapped = Object.entries(activities).map(([name, run]) => [
    name,
    async (jobId: string, ...more: never[]) => {
      const result = await run(jobId, ...more);
      const job = await findJob(services.db.orm, jobId);
      if (job?.finishedAt) await startJobs(services, job.userId);
      return result;
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}
