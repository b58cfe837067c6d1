import { WorkflowNotFoundError } from '@temporalio/client';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { isOver } from '../../core/jobs/endings.ts';
import type { VisibleJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { temporalAway } from '../../store/temporal/client.ts';
import { kindOf } from './jobKinds.ts';
import { requireJob } from './requireJob.ts';

const patienceMs = 10_000;
const pollMs = 100;

/** Asks the workflow to stop and waits a while until it has. One that ended meanwhile stays as it ended. */
export async function cancelJob(services: Services, principal: Principal, job: VisibleJob): Promise<VisibleJob> {
  const { uncancellable, abandon } = kindOf(job);
  if (uncancellable !== null) throw new DomainError('in-use', uncancellable, 'Let it finish.');
  if (isOver(job)) return job;
  const { client } = await services.temporal();
  try {
    await client.workflow.getHandle(job.workflowId).cancel();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw temporalAway(error);
    // It was not started yet, or is gone without having said how it ended: nobody else will finish this job.
    await abandon(services, job.id, 'cancelled');
  }
  let now = await requireJob(services, principal, job.id);
  for (const until = Date.now() + patienceMs; !isOver(now) && Date.now() < until; now = await requireJob(services, principal, job.id)) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return now;
}
