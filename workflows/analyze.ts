import { runSourceJob } from './sourceJob.ts';

/** Proposes the parse spec of a source. */
export async function analyze(jobId: string): Promise<string> {
  return runSourceJob(jobId, 'analyzeSource', 'analyzed');
}
