import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { describeErrorForLog } from '../../store/log.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';
import { kindOf } from './jobKinds.ts';

/** Starts the workflow of a registered job. If that fails, the sweep starts it later. */
export async function startJob(services: Services, job: JobRecord): Promise<void> {
  try {
    const { client } = await services.temporal();
    const { workflow } = kindOf(job);
    if (workflow === null) throw new Error(`jobs of kind ${job.kind} have no workflow`);
    await client.workflow.start(workflow, {
      workflowId: job.workflowId,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      taskQueue: services.config.temporal.taskQueue,
      args: [job.id],
      typedSearchAttributes: searchAttributes({ kind: job.kind, workbook: job.workbookId ?? undefined, account: job.accountId }),
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return;
    services.log.warn({ jobId: job.id, ...describeErrorForLog(error) }, 'job not started yet');
  }
}
