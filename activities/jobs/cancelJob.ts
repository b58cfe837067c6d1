import { WorkflowNotFoundError } from '@temporalio/client';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { type JobRecord, updateJob, type VisibleJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { temporalAway } from '../../store/temporal/client.ts';
import { abandonIngest } from '../ingest/endIngest.ts';
import { failSourceJob } from '../sources/failSourceJob.ts';
import { requireJob } from './findJob.ts';

const patienceMs = 10_000;
const pollMs = 100;

/** What the workflow of each kind of job would do when it is told to stop. */
const endings: Record<string, (services: Services, jobId: string) => Promise<void>> = {
  ingest: abandonIngest,
  analyze: (services, jobId) => failSourceJob(services, jobId, 'cancelled'),
  materialize: (services, jobId) => failSourceJob(services, jobId, 'cancelled'),
};

/** Asks the workflow to stop and waits a while until it has. One that ended meanwhile stays as it ended. */
export async function cancelJob(services: Services, principal: Principal, job: VisibleJob): Promise<VisibleJob> {
  if (job.kind === 'delete_account') throw new DomainError('in-use', 'The deletion of an account cannot be cancelled.', 'Let it finish.');
  if (isOver(job)) return job;
  const { client } = await services.temporal();
  try {
    await client.workflow.getHandle(job.workflowId).cancel();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw temporalAway(error);
    // The workflow is gone without having said how it ended, or was never begun: nothing else will finish this job.
    const end = endings[job.kind];
    if (end) await end(services, job.id);
    else await updateJob(services.db.orm, job.id, { status: 'failed', error: 'cancelled', finishedAt: new Date() });
  }
  let now = await requireJob(services, principal, job.id);
  for (const until = Date.now() + patienceMs; !isOver(now) && Date.now() < until; now = await requireJob(services, principal, job.id)) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return now;
}

export function isOver(job: JobRecord): boolean {
  return job.status === 'succeeded' || job.status === 'failed';
}
