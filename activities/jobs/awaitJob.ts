import { setTimeout as sleep } from 'node:timers/promises';
import { explainFailure, isOver } from '../../core/jobs/endings.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';

/** How long a caller who did not ask for a job is kept waiting for the answer. */
const patienceMs = 45_000;
const pauses = { firstMs: 20, mostMs: 150 };

export interface Waiting {
  patienceMs?: number;
  isReady?: (job: JobRecord) => boolean;
}

/**
 * The job once it is over, or far enough; as it is when patience ends. A refusal is thrown as such. The job's row is asked,
 * not the workflow: it is written with the effect itself, and it can be read while the workflow server is away.
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
