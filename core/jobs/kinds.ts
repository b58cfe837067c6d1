import type { AnalyzeInput, AnalyzeResult, IngestInput, IngestResult, MaterializeInput, MaterializeResult } from './sourceJobs.ts';

/**
 * What each kind of job is asked to do, and what it leaves as its result: ids and choices, kept with the job, never content,
 * and never what somebody may do. A new kind begins here; the compiler then asks for its entry in every table by kind.
 */
export interface JobTypes {
  ingest: { input: IngestInput; result: IngestResult };
  analyze: { input: AnalyzeInput; result: AnalyzeResult };
  materialize: { input: MaterializeInput; result: MaterializeResult };
  // In the contract, and not started by anything yet: their results are shown as they are.
  recompute: Planned;
  transform: Planned;
  review: Planned;
  restore: Planned;
  file_link: Planned;
  delete_account: Planned;
}

interface Planned {
  input: object;
  result: object;
}

export type JobKind = keyof JobTypes;
