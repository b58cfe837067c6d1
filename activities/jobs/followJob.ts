import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { isOver } from '../../core/jobs/endings.ts';
import { findJobVersion, type VisibleJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { requireJob } from './requireJob.ts';

/** A job, and what tells this state of it from others. */
export interface JobState {
  job: VisibleJob;
  version: string;
}

const longestMs = 5 * 60_000;
const silentMs = 15_000;

/** The version is read first: a change in between is then seen as one more state, not missed. */
export async function readJobState(services: Services, principal: Principal, jobId: string): Promise<JobState> {
  const found = await findJobVersion(services.db.orm, jobId);
  if (!found) throw notFound('job');
  return { version: found.version, job: await requireJob(services, principal, jobId) };
}

/**
 * The states of a job after the one that was seen, until it is over, for some minutes at most: who follows longer shows their
 * credential again. Null: nothing has changed for a while. Rights are asked for each state.
 */
export async function* followJob(
  services: Services,
  principal: Principal,
  first: JobState,
  { after, signal }: { after: string | null; signal: AbortSignal },
): AsyncGenerator<JobState | null> {
  const until = Date.now() + longestMs;
  for (let [state, seen] = [first, after]; ; state = await readJobState(services, principal, first.job.id)) {
    yield state.version === seen ? null : state;
    seen = state.version;
    const left = until - Date.now();
    if (isOver(state.job) || left <= 0 || signal.aborted) return;
    if (!(await services.jobWatch.waitForChange(state.job.id, seen, Math.min(left, silentMs), signal))) return;
  }
}

/** Takes one of the places for those who wait. The returned function gives it back. */
export function takePlace(services: Services, { credentialId }: Principal): () => void {
  const leave = services.jobWatch.admit(credentialId);
  if (leave) return leave;
  throw new DomainError('rate-limited', 'Too many streams are open.', 'Close some, or ask for the job with `wait` instead.', {
    headers: { 'Retry-After': '10' },
  });
}
