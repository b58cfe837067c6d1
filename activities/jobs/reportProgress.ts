import { updateJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';

const reportEveryMs = 500;

/** Writes down how far a job is, now and then. */
export function reportProgress(services: Services, jobId: string, stage: string): (done: number, total: number | null) => void {
  let next = 0;
  return (done, total) => {
    const now = Date.now();
    if (now < next) return;
    next = now + reportEveryMs;
    updateJob(services.db.orm, jobId, { stage, done, total }).catch(() => {});
  };
}
