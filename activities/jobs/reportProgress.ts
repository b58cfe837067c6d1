import { updateJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';

const reportEveryMs = 500;

export interface ProgressReport {
  /** May be called often: it is stored once in a while, and when all is done. */
  step(done: number, total: number | null): void;
  /** Waits for what is being stored, so that it does not overwrite what the next stage stores. */
  settle(): Promise<void>;
}

/** Stores the progress of a stage of a job. */
export function reportProgress(services: Services, jobId: string, stage: string): ProgressReport {
  // Whoever waits is woken by each report, and most files are done before the first is due.
  let next = Date.now() + reportEveryMs;
  let isWhole = false;
  let stored: Promise<unknown> = Promise.resolve();
  return {
    step(done, total) {
      const now = Date.now();
      if (done === total ? isWhole : now < next) return;
      isWhole = done === total;
      next = now + reportEveryMs;
      stored = stored.then(() => updateJob(services.db.orm, jobId, { stage, done, total })).catch(() => {});
    },
    settle: async () => {
      await stored;
    },
  };
}
