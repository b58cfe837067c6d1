import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { describeError } from '../../store/log.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';

/** The workflow of each kind of job. Its one argument is the job's id. */
const workflows: Record<string, string> = { ingest: 'ingest', analyze: 'analyze', materialize: 'materialize' };

/** Starts a registered job's workflow. When that fails the job stays registered, and the sweep starts it. */
export async function startJob(services: Services, job: JobRecord): Promise<void> {
  try {
    const { client } = await services.temporal();
    const type = workflows[job.kind];
    if (!type) throw new Error(`jobs of kind ${job.kind} have no workflow`);
    await client.workflow.start(type, {
      workflowId: job.workflowId,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      taskQueue: services.config.temporal.taskQueue,
      args: [job.id],
      typedSearchAttributes: searchAttributes({ kind: job.kind, workbook: job.workbookId ?? undefined, account: job.accountId }),
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return;
    services.log.warn({ jobId: job.id, ...describeError(error) }, 'job not started yet');
  }
}
