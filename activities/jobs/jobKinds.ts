import type { Ending } from '../../core/jobs/endings.ts';
import type { JobKind } from '../../core/jobs/kinds.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { resumeDeletion } from '../accounts/resumeDeletion.ts';
import { abandonIngest } from '../ingest/endIngest.ts';
import { failSourceJob } from '../ingest/failSourceJob.ts';
import { failReview } from '../review/endReview.ts';
import { failTransformJob } from '../transforms/endTransformJob.ts';

interface KindOfJob {
  /** The workflow that does the work; its argument is the job's id. */
  workflow: string;
  /** Why it cannot be cancelled; null if it can. */
  uncancellable: string | null;
  /** Ends a job that no workflow will end, or has another do it. A job that has ended meanwhile keeps its result. */
  abandon(services: Services, jobId: string, why: Ending): Promise<void>;
}

/** All job kinds. `api/presenters/jobs.ts` says how their results are shown. */
export const jobKinds: Record<JobKind, KindOfJob> = {
  ingest: { workflow: 'ingest', uncancellable: null, abandon: abandonIngest },
  analyze: { workflow: 'analyze', uncancellable: null, abandon: failSourceJob },
  materialize: { workflow: 'materialize', uncancellable: null, abandon: failSourceJob },
  transform: { workflow: 'transform', uncancellable: null, abandon: failTransformJob },
  recompute: { workflow: 'recompute', uncancellable: null, abandon: failTransformJob },
  restore: { workflow: 'restore', uncancellable: null, abandon: failTransformJob },
  review: { workflow: 'review', uncancellable: null, abandon: failReview },
  // A new state of a tracked file is an ingest of its source.
  file_link: { workflow: 'ingest', uncancellable: null, abandon: abandonIngest },
  delete_account: {
    workflow: 'deleteAccount',
    uncancellable: 'The deletion of an account cannot be cancelled.',
    abandon: resumeDeletion,
  },
};

export function kindOf(job: JobRecord): KindOfJob {
  return jobKinds[job.kind];
}
