import type { RunOutcome } from '../../core/jobs/transformJobs.ts';
import { chooseNextRuns, findAbove, findBelow, type RunNode } from '../../core/transforms/nextRuns.ts';
import { type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import { listDrafts } from '../../store/pg/sources.ts';
import { listTransformsById, readGraph } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { openJob } from '../jobs/commitForJob.ts';
import { ownStage } from './commitRun.ts';
import type { RunJob } from './runJob.ts';

/** Twice as many as a workflow runs at a time: those that are running are among them. */
const mostAtOnce = 16;

/** Begins a recompute, or what comes after a restore: the transforms that can be run first. */
export async function beginRuns(services: Services, jobId: string): Promise<string[]> {
  const job = await openJob(services, jobId, 'recompute', 'restore');
  if (!job) return [];
  await updateJob(services.db.orm, jobId, { status: 'running', stage: 'run' });
  return chooseRuns(services, job);
}

/** The transforms that a job can run next, also those that it is running already. */
export async function chooseRuns(services: Services, job: RunJob): Promise<string[]> {
  if (job.workbookId === null) return [];
  const [drafts, graph] = await Promise.all([listDrafts<RunOutcome>(services.db.orm, job.id), readGraph(services.db.pool, job.workbookId)]);
  const nodes = graph.flatMap(({ id, outputId, isActive, inputIds, staleSince }) =>
    outputId === null || !isActive ? [] : [{ id, outputId, inputIds, isStale: staleSince !== null }],
  );
  const tried = new Set(drafts.map(({ draft }) => draft.transformId));
  const own = drafts.find(({ stage }) => stage === ownStage)?.draft.output?.tableId ?? null;
  return chooseNextRuns(nodes, tried, await findTables(services, job, nodes, own)).slice(0, mostAtOnce);
}

/** A recompute is about all tables; a run about those that it reads, and when it is done about those that read its output. */
async function findTables(services: Services, job: RunJob, nodes: RunNode[], own: string | null): Promise<Set<string> | null> {
  if (job.kind !== 'transform') return null;
  if (own !== null) return findBelow(nodes, own);
  const { transformId, definition } = (job as JobRecord<'transform'>).input;
  const args = definition?.args ?? (await listTransformsById(services.db.orm, [transformId]))[0]?.args ?? {};
  return findAbove(nodes, Object.values(args));
}
