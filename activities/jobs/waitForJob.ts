import type { Principal } from '../../core/access/principal.ts';
import type { VisibleJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { watchJob } from './awaitJob.ts';
import { requireJob } from './requireJob.ts';

/** The job when it is over, or as it is when the time is. Where too many wait already, as it is now. */
export async function waitForJob(
  services: Services,
  principal: Principal,
  jobId: string,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<VisibleJob> {
  const job = await requireJob(services, principal, jobId);
  const leave = seconds > 0 ? services.jobWatch.admit(principal.credentialId) : null;
  if (!leave) return job;
  try {
    await watchJob(services, jobId, { patienceMs: seconds * 1000, signal });
  } finally {
    leave();
  }
  return requireJob(services, principal, jobId);
}
