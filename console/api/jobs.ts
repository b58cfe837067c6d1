import { api, ask, type Schemas } from './client.ts';

export type Job = Awaited<ReturnType<typeof readJob>>;

const readJob = (jobId: string, wait: number, signal?: AbortSignal) =>
  ask(api.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: jobId }, query: { wait } }, signal }));

const isOver = ({ status }: Job) => status === 'succeeded' || status === 'failed';

/** Watches a job until it is over, and tells of its progress on the way. */
export async function awaitJob(jobId: string, onProgress: (job: Job) => void, signal?: AbortSignal): Promise<Job> {
  for (;;) {
    const job = await readJob(jobId, 1, signal);
    onProgress(job);
    if (isOver(job)) return job;
  }
}

export async function awaitReview(jobId: string): Promise<Schemas['Review']> {
  const job = await awaitJob(jobId, () => {});
  if (job.kind !== 'review' || !job.result) throw new Error(job.error ?? job.status);
  return job.result;
}

export const cancelJob = (jobId: string) => ask(api.POST('/api/v1/jobs/{job_id}/cancel', { params: { path: { job_id: jobId } } }));

/** How far it is, from 0 to 1; null where that is not known. */
export function measureProgress(progress: Schemas['JobProgress'] | null | undefined): number | null {
  return progress?.total ? progress.done / progress.total : null;
}
