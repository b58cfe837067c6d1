import { WorkflowNotFoundError } from '@temporalio/client';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { isOver } from '../../core/jobs/endings.ts';
import { jobCancelled } from '../../core/journal/jobNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { VisibleJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { temporalAway } from '../../store/temporal/client.ts';
import { watchJob } from './awaitJob.ts';
import { kindOf } from './jobKinds.ts';
import { requireJob } from './requireJob.ts';

const patienceMs = 10_000;

/** Asks the workflow to stop and waits a while for it. A job that has ended meanwhile keeps its result. */
export async function cancelJob(services: Services, principal: Principal, job: VisibleJob): Promise<VisibleJob> {
  if (isOver(job)) return job;
  const { uncancellable, abandon } = kindOf(job);
  if (uncancellable !== null) throw new DomainError('in-use', uncancellable, 'Let it finish.');
  const { client } = await services.temporal();
  try {
    await client.workflow.getHandle(job.workflowId).cancel();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw temporalAway(error);
    // The workflow was never started, or is gone without ending its job, so nobody else will.
    await abandon(services, job.id, 'cancelled');
  }
  await watchJob(services, job.id, { patienceMs });
  return requireJob(services, principal, job.id);
}

/** Runs inside the transaction: notes who cancelled the job, unless it was over before. */
export async function noteCancelled(tx: Tx, before: VisibleJob): Promise<void> {
  if (!isOver(before)) tx.note(before.workbookId ?? before.accountId, jobCancelled(before.id));
}
