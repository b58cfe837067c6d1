import { updateJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';

const reportEveryMs = 500;

/** Stores the progress of a job, at most once in a while. */
export function reportProgress(services: Services, jobId: string, stage: string): (done: number, total: number | null) => void {
  let next = 0;
  return (done, total) => {
    const now = Date.now();
    if (now < next) return;
    next = now + reportEveryMs;
    updateJob(services.db.orm, jobId, { stage, done, total }).catch(() => {});
  };
}
