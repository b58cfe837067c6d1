import type { Ending } from '../../core/jobs/endings.ts';
import { endings } from '../../core/jobs/endings.ts';
import type { JobKind } from '../../core/jobs/kinds.ts';
import { type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { abandonIngest } from '../ingest/endIngest.ts';
import { failSourceJob } from '../ingest/failSourceJob.ts';
import { failReview } from '../review/endReview.ts';
import { failTransformJob } from '../transforms/endTransformJob.ts';

interface KindOfJob {
  /** The workflow that does the work; its argument is the job's id. Null: nothing starts this kind yet. */
  workflow: string | null;
  /** Why it cannot be cancelled; null if it can. */
  uncancellable: string | null;
  /** Ends a job that no workflow will end. A job that has ended meanwhile keeps its result. */
  abandon(services: Services, jobId: string, why: Ending): Promise<void>;
}

/** Without a workflow there is no work to clean up: only the job's row ends. */
const planned: KindOfJob = { workflow: null, uncancellable: null, abandon: endRow };

/** All job kinds. `api/presenters/jobs.ts` says how their results are shown. */
export const jobKinds: Record<JobKind, KindOfJob> = {
  ingest: { workflow: 'ingest', uncancellable: null, abandon: abandonIngest },
  analyze: { workflow: 'analyze', uncancellable: null, abandon: failSourceJob },
  materialize: { workflow: 'materialize', uncancellable: null, abandon: failSourceJob },
  transform: { workflow: 'transform', uncancellable: null, abandon: failTransformJob },
  recompute: { workflow: 'recompute', uncancellable: null, abandon: failTransformJob },
  restore: { workflow: 'restore', uncancellable: null, abandon: failTransformJob },
  review: { workflow: 'review', uncancellable: null, abandon: failReview },
  file_link: planned,
  delete_account: { ...planned, uncancellable: 'The deletion of an account cannot be cancelled.' },
};

export function kindOf(job: JobRecord): KindOfJob {
  return jobKinds[job.kind];
}

async function endRow(services: Services, jobId: string, why: Ending): Promise<void> {
  const problem = endings[why];
  await updateJob(services.db.orm, jobId, { status: 'failed', error: problem.detail, problem, finishedAt: new Date() });
}
