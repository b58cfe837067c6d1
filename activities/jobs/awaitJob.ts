import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError, type ProblemCode, problems } from '../../core/errors.ts';
import { findJob, type JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { isOver } from './cancelJob.ts';

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
    if (job?.status === 'failed' && waiting.patienceMs !== 0) throw describeFailure(job);
    if (!job || isOver(job) || waiting.isReady?.(job) || Date.now() + pause > until) return job;
    await sleep(pause);
  }
}

export function describeFailure(job: JobRecord): DomainError {
  const { problem } = job;
  const { code, detail, suggestedFix, errors, members } = problem ?? {
    code: 'unavailable',
    detail: job.error ?? 'The work failed.',
    suggestedFix: 'Try again in a moment.',
  };
  return new DomainError(code as ProblemCode, detail, suggestedFix, {
    ...(errors && { errors }),
    ...(members && { members }),
    ...(code === 'unavailable' && { headers: { 'Retry-After': '5' } }),
  });
}

/** Statuses that say that the request itself is wrong. */
const lasting = new Set<number>([400, 413, 415, 422]);

/** A job that has failed for reasons that pass: nothing has come of it, and the same request may be tried anew. */
export function mayFareBetter({ status, problem }: JobRecord): boolean {
  return status === 'failed' && !lasting.has(problems[(problem?.code ?? 'unavailable') as ProblemCode].status);
}
