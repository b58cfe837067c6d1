import type { RunOutcome } from '../../core/jobs/transformJobs.ts';
import { chooseNextRuns } from '../../core/transforms/nextRuns.ts';
import { listDrafts } from '../../store/pg/sources.ts';
import { readGraph } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { openJob } from '../jobs/commitForJob.ts';
import { ownStage } from './commitRun.ts';

/** As many as a user may let wait for query processes, and some less. */
const mostAtOnce = 8;

/** The transforms that a job runs next. After a run of one transform, what depends on its output; else all that are stale. */
export async function listNextRuns(services: Services, jobId: string): Promise<string[]> {
  const job = await openJob(services, jobId, 'transform', 'recompute');
  if (!job || job.workbookId === null) return [];
  const [drafts, nodes] = await Promise.all([listDrafts<RunOutcome>(services.db.orm, jobId), readGraph(services.db.pool, job.workbookId)]);
  const own = drafts.find(({ stage }) => stage === ownStage)?.draft.output;
  const made = nodes.flatMap(({ id, outputId, inputIds, staleSince }) =>
    outputId === null ? [] : [{ id, outputId, inputIds, isStale: staleSince !== null }],
  );
  const tried = new Set(drafts.map(({ draft }) => draft.transformId));
  return chooseNextRuns(made, tried, job.kind === 'transform' ? new Set(own ? [own.tableId] : []) : null).slice(0, mostAtOnce);
}
