import { WorkflowNotFoundError } from '@temporalio/client';
import { describeErrorForLog } from '../../store/log.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { type JobRecord, listLongRunningJobs, listUnstartedJobs, listWaitingUsers } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { kindOf } from './jobKinds.ts';
import { startJob, startJobs } from './startJob.ts';

/** Starts jobs that were not started, and ends those whose workflow is over. Returns how many there were. */
export async function sweepJobs(services: Services, activity: ActivityContext): Promise<number> {
  const forgotten = await listUnstartedJobs(services.db.orm);
  for (const job of forgotten) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    await startJob(services, job);
  }
  for (const userId of await listWaitingUsers(services.db.orm)) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    await startJobs(services, userId);
  }
  let stopped = 0;
  for (const job of await listLongRunningJobs(services.db.orm)) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    if (await endIfStopped(services, job)) stopped += 1;
  }
  return forgotten.length + stopped;
}

/** Workflows end their job first, unless terminated. Failures are isolated per job. */
async function endIfStopped(services: Services, job: JobRecord): Promise<boolean> {
  try {
    if (await isAtWork(services, job)) return false;
    await inAccount(job.accountId, () => kindOf(job).abandon(services, job.id, 'stopped'));
    services.log.warn({ jobId: job.id }, 'job ended whose workflow was stopped');
    return true;
  } catch (error) {
    services.log.error({ jobId: job.id, ...describeErrorForLog(error) }, 'job not ended whose workflow was stopped');
    return false;
  }
}

async function isAtWork(services: Services, job: JobRecord): Promise<boolean> {
  const { client } = await services.temporal();
  try {
    const { status } = await client.workflow.getHandle(job.workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    // A running job had a workflow, which is gone; a pending one is still to be started by the sweep.
    return job.status === 'pending';
  }
}
