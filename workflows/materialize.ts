import { runSourceJob } from './sourceJob.ts';

/** Makes tables from regions of a source, or appends their rows to one. */
export async function materialize(jobId: string): Promise<string> {
  return runSourceJob(jobId, 'materializeSource', 'materialized');
}
