import { WorkflowNotFoundError } from '@temporalio/client';
import { describeErrorForLog } from '../../store/log.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { type JobRecord, listLongRunningJobs, listUnstartedJobs } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import type { Pulse } from '../pulse.ts';
import { kindOf } from './jobKinds.ts';
import { startJob } from './startJob.ts';

/** Starts jobs that nobody has started, and ends those whose workflow is over. Says how many there were. */
export async function sweepJobs(services: Services, pulse: Pulse): Promise<number> {
  const forgotten = await listUnstartedJobs(services.db.orm);
  for (const job of forgotten) {
    pulse.heartbeat();
    pulse.signal?.throwIfAborted();
    await startJob(services, job);
  }
  let stopped = 0;
  for (const job of await listLongRunningJobs(services.db.orm)) {
    pulse.heartbeat();
    pulse.signal?.throwIfAborted();
    if (await endIfStopped(services, job)) stopped += 1;
  }
  return forgotten.length + stopped;
}

/** A workflow ends its job before itself, unless somebody terminates it. A job that fails to end keeps no other from ending. */
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
    // What has begun had a workflow; what has not is started by the sweep.
    return job.status === 'pending';
  }
}
