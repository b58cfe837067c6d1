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

/** The workflow of an analysis or a materialization gave up, was told to, or is no more. */
export async function failSourceJob(services: Services, jobId: string, reason: 'failed' | Ending): Promise<void> {
  const job = await openJob(services, jobId, 'analyze', 'materialize');
  if (job) await refuseSourceJob(services, job, reasons[reason]);
}

/** The job ends; the source stays as it was, but that a file which cannot be analyzed says so. */
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
    await failJob(tx, current, problem, false);
  });
}
