import type { VisibleJob } from '../../store/pg/jobs.ts';

const notTold = 'It failed. What it said of the data is not shown where columns are tagged.';

/**
 * What went wrong is told in words that may quote values. Where columns are tagged they are for who asked for the job, until
 * tags or policies change: a policy version is never below the time of its change.
 */
export function hideWords(job: VisibleJob, readerId: string): VisibleJob {
  const endedMs = job.finishedAt?.getTime() ?? Number.POSITIVE_INFINITY;
  if (job.policyVersion === 0 || (job.userId === readerId && endedMs > job.policyVersion)) return job;
  const { result } = job;
  const failed = result && 'failed' in result ? { failed: result.failed.map((run) => ({ ...run, error: notTold })) } : {};
  return { ...job, error: job.error === null ? null : notTold, result: result && { ...result, ...failed } } as VisibleJob;
}
