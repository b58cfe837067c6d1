import type { JobProblem } from '../../schema/index.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { lockSource, type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { type Ending, endings } from '../jobs/endings.ts';
import { commitForJob, fail, openJob } from '../jobs/runJob.ts';

const reasons: Record<'failed' | Ending, JobProblem> = {
  ...endings,
  failed: { code: 'unavailable', detail: 'The file could not be worked on just now.', suggestedFix: 'Try again in a moment.' },
};

/** The workflow gave up, was told to, or is no more. */
export async function failSourceJob(services: Services, jobId: string, reason: 'failed' | Ending): Promise<void> {
  const job = await openJob(services, jobId);
  if (job) await failJob(services, job, reasons[reason]);
}

/** The job ends; the source stays as it was, but that a file which cannot be analyzed says so. */
export async function failJob(services: Services, job: JobRecord, problem: JobProblem): Promise<void> {
  await commitForJob(services, job, async (tx, current) => {
    const source = await lockSource(tx, job.input.sourceId as string);
    const isFault = job.kind === 'analyze' && problem.code !== 'unavailable' && problem.code !== 'in-use';
    if (source)
      await updateSource(tx, source.id, {
        status: isFault ? 'failed' : (job.input.statusBefore as SourceRecord['status']),
        error: isFault ? problem.detail : null,
        jobId: null,
      });
    await fail(tx, current, problem, false);
  });
}
