import { setTimeout as sleep } from 'node:timers/promises';
import { explainFailure, isOver } from '../../core/jobs/endings.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';

/** How long a caller who did not ask for a job waits for its result. */
const patienceMs = 45_000;
const pauses = { firstMs: 20, mostMs: 150 };

export interface Waiting {
  patienceMs?: number;
  isReady?: (job: JobRecord) => boolean;
}

/**
 * Waits until the job is over or `isReady`, at most `patienceMs`. Throws the refusal of a failed job. Polls the job's row
 * instead of the workflow: it is written together with the effect, and can be read while Temporal is down.
 */
export async function awaitJob(services: Services, jobId: string, waiting: Waiting = {}): Promise<JobRecord | null> {
  const until = Date.now() + (waiting.patienceMs ?? patienceMs);
  for (let pause = pauses.firstMs; ; pause = Math.min(pauses.mostMs, pause * 1.3)) {
    const job = await findJob(services.db.orm, jobId);
    if (job?.status === 'failed' && waiting.patienceMs !== 0) throw explainFailure(job);
    if (!job || isOver(job) || waiting.isReady?.(job) || Date.now() + pause > until) return job;
    await sleep(pause);
  }
}
