import { WorkflowNotFoundError } from '@temporalio/client';
import { isOver } from '../../core/jobs/endings.ts';
import { type JobRecord, listUnfinishedJobs } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { watchJob } from '../jobs/awaitJob.ts';
import { kindOf } from '../jobs/jobKinds.ts';
import { inClosedAccount } from './inClosedAccount.ts';

/** So long a job may take to stop where it is. */
const patienceMs = 15_000;

/** The second step of a deletion: jobs of the account are cancelled. All are told first, so that they stop side by side. */
export async function endAccountWork(services: Services, jobId: string, { signal }: ActivityContext): Promise<void> {
  await inClosedAccount(services, jobId, 'stop', async ({ accountId }) => {
    const jobs = await listUnfinishedJobs(services.db.orm, accountId);
    for (const job of jobs) await tell(services, job, 'cancel');
    for (const job of jobs) {
      signal?.throwIfAborted();
      const left = await watchJob(services, job.id, { patienceMs, signal });
      if (!left || isOver(left)) continue;
      await tell(services, job, 'terminate');
      await kindOf(job).abandon(services, job.id, 'cancelled');
    }
  });
}

/** A job that was never started ends here. */
async function tell(services: Services, job: JobRecord, what: 'cancel' | 'terminate'): Promise<void> {
  const { client } = await services.temporal();
  try {
    await client.workflow.getHandle(job.workflowId)[what]();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    await kindOf(job).abandon(services, job.id, 'cancelled');
  }
}
