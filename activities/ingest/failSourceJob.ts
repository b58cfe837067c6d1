import { type Ending, endings, isFaultOfInput, type JobProblem } from '../../core/jobs/endings.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { lockSource, updateSource } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { failJob } from '../jobs/endJob.ts';

const reasons: Record<'failed' | Ending, JobProblem> = {
  ...endings,
  failed: { code: 'unavailable', detail: 'The file could not be worked on just now.', suggestedFix: 'Try again in a moment.' },
};

/** Ends an analysis or materialization whose workflow failed, was cancelled or is gone. */
export async function failSourceJob(services: Services, jobId: string, reason: 'failed' | Ending): Promise<void> {
  const job = await openJob(services, jobId, 'analyze', 'materialize');
  if (job) await refuseSourceJob(services, job, reasons[reason]);
}

/** Ends the job. The source returns to its former status, except that an unreadable file is marked as such. */
export async function refuseSourceJob(services: Services, job: JobRecord<'analyze' | 'materialize'>, problem: JobProblem): Promise<void> {
  await commitForJob(services, job, async (tx, current) => {
    const source = await lockSource(tx, job.input.sourceId);
    const isUnreadable = job.kind === 'analyze' && isFaultOfInput(problem);
    if (source)
      await updateSource(tx, source.id, {
        status: isUnreadable ? 'failed' : job.input.statusBefore,
        error: isUnreadable ? problem.detail : null,
        jobId: null,
      });
    await failJob(tx, current, problem);
  });
}
