import { type Ending, endings, type JobProblem } from '../../core/jobs/endings.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { releaseCredits } from '../credits/releaseCredits.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { failJob } from '../jobs/endJob.ts';

const reasons: Record<'failed' | Ending, JobProblem> = {
  ...endings,
  failed: { code: 'unavailable', detail: 'The review could not be made just now.', suggestedFix: 'Try again in a moment.' },
};

/** Ends a review whose workflow failed, was cancelled or is gone. */
export async function failReview(services: Services, jobId: string, reason: 'failed' | Ending): Promise<void> {
  const job = await openJob(services, jobId, 'review');
  if (job) await refuseReview(services, job, reasons[reason]);
}

export async function refuseReview(services: Services, job: JobRecord<'review'>, problem: JobProblem): Promise<void> {
  await commitForJob(services, job, async (tx, current) => {
    await releaseCredits(tx, current.id, current.accountId);
    await failJob(tx, current as JobRecord, problem);
  });
}
