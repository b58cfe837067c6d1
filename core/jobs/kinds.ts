import type { DeleteAccountInput } from './accountJobs.ts';
import type { FileLinkInput, FileLinkResult } from './linkJobs.ts';
import type { RestoreInput, RestoreResult } from './restoreJobs.ts';
import type { ReviewInput, ReviewResult } from './reviewJobs.ts';
import type { AnalyzeInput, AnalyzeResult, IngestInput, IngestResult, MaterializeInput, MaterializeResult } from './sourceJobs.ts';
import type { RecomputeResult, TransformInput, TransformResult } from './transformJobs.ts';

/**
 * Input and result of each job kind, stored with the job: ids and choices, never content, and never what somebody may do. A new
 * kind begins here; the compiler then asks for its entry in every table by kind.
 */
export interface JobTypes {
  ingest: { input: IngestInput; result: IngestResult };
  analyze: { input: AnalyzeInput; result: AnalyzeResult };
  materialize: { input: MaterializeInput; result: MaterializeResult };
  transform: { input: TransformInput; result: TransformResult };
  recompute: { input: object; result: RecomputeResult };
  restore: { input: RestoreInput; result: RestoreResult };
  review: { input: ReviewInput; result: ReviewResult };
  file_link: { input: FileLinkInput; result: FileLinkResult };
  /** Of the owner's default account, which outlives the one that is deleted. */
  delete_account: { input: DeleteAccountInput; result: object };
}

export type JobKind = keyof JobTypes;
