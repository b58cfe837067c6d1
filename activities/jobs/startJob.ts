import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { describeErrorForLog } from '../../store/log.ts';
import { acrossAccounts, inAccount } from '../../store/pg/accountScope.ts';
import { admitJobs, type JobRecord } from '../../store/pg/jobs.ts';
import { findSourceById } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';
import { writeSummary } from '../../store/temporal/summary.ts';
import { kindOf } from './jobKinds.ts';

/**
 * Starts the registered jobs of a user, as many at a time as a user may have under way. The others wait in the database, so that
 * no user fills the queue of the workers, and begin when earlier ones end. What fails is left to the sweep.
 */
export async function startJobs(services: Services, userId: string): Promise<void> {
  try {
    const admitted = await acrossAccounts(() => admitJobs(services.db.orm, userId, services.config.jobsPerUser));
    await Promise.all(admitted.map((job) => inAccount(job.accountId, () => startJob(services, job))));
  } catch (error) {
    services.log.warn({ ...describeErrorForLog(error) }, 'jobs not started yet');
  }
}

/** Starts the workflow of a job that may begin. If that fails, the sweep starts it later. */
export async function startJob(services: Services, job: JobRecord): Promise<void> {
  try {
    const { client } = await services.temporal();
    const { workflow } = kindOf(job);
    await client.workflow.start(workflow, {
      workflowId: job.workflowId,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      taskQueue: services.config.temporal.taskQueue,
      args: [job.id],
      // Where the server shares a queue between keys, users take turns in it.
      priority: { fairnessKey: job.userId },
      ...writeSummary(job.kind, await nameSubject(services, job)),
      memo: { request: job.actor?.requestId ?? null, job: job.id },
      typedSearchAttributes: searchAttributes({ kind: job.kind, workbook: job.workbookId ?? undefined, account: job.accountId }),
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return;
    services.log.warn({ jobId: job.id, ...describeErrorForLog(error) }, 'job not started yet');
  }
}

/** The file or account that the job is about, and the table that it appends to. */
async function nameSubject(services: Services, job: JobRecord): Promise<string> {
  if (job.kind === 'delete_account') return job.input.accountId;
  const { sourceId, append } = job.input as { sourceId?: string; append?: { table: string } | null };
  const source = sourceId === undefined ? null : await findSourceById(services.db.orm, sourceId);
  return [source?.name ?? job.workbookId ?? job.accountId, ...(append ? [`→ ${append.table}`] : [])].join(' ');
}
