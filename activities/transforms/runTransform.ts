import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { isFinal, toProblem } from '../../core/jobs/endings.ts';
import type { RunOutcome } from '../../core/jobs/transformJobs.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { TransformDefinition } from '../../core/transforms/transform.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import { findDraft, saveDraft } from '../../store/pg/sources.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import { findTransform, listTransformsById, type TransformRecord, updateTransform } from '../../store/pg/transforms.ts';
import { PythonFault } from '../../store/python/pythonFault.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { openJob } from '../jobs/commitForJob.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { chooseRuns } from './chooseRuns.ts';
import { commitRun, ownStage, type PreparedRun, runStage } from './commitRun.ts';
import { endTransformJob, finishTransformJob } from './endTransformJob.ts';
import { executeRun } from './executeRun.ts';
import type { RunJob } from './runJob.ts';

/** What is to be done after a step: `next` are transforms to run, before the job's own (`waits`) or after it (`ran`). */
export type RunStep = { state: 'waits' | 'ran'; next: string[] } | { state: 'over'; end: 'ran' | 'refused' | 'ended before' };

/**
 * Runs the transform that a job is about, unless something that it reads is stale and was not tried yet. `over`: the job has
 * ended, because nothing is left to do or because the run was refused.
 */
export async function runTransform(services: Services, jobId: string, activity: ActivityContext): Promise<RunStep> {
  const job = await openJob(services, jobId, 'transform');
  if (!job) return { state: 'over', end: 'ended before' };
  await updateJob(services.db.orm, jobId, { status: 'running', stage: 'run' });
  if (!(await findDraft(services.db.orm, jobId, ownStage))) {
    const before = await chooseRuns(services, job);
    if (before.length > 0) return { state: 'waits', next: before };
    if ((await runOwn(services, job, activity)) === 'over') return { state: 'over', end: 'refused' };
  }
  const next = await chooseRuns(services, job);
  if (next.length > 0) return { state: 'ran', next };
  await finishTransformJob(services, jobId);
  return { state: 'over', end: 'ran' };
}

async function runOwn(services: Services, job: JobRecord<'transform'>, activity: ActivityContext): Promise<'ran' | 'over'> {
  const { transformId, definition } = job.input;
  try {
    const principal = await requireAsker(services, job, 'editor');
    const outcome = await retryOnMove(async () => {
      const stored = await findStored(services, job);
      return runOnce(services, job, { transformId, stored, definition: definition ?? requireStored(stored), principal }, activity);
    });
    return outcome ? 'ran' : 'over';
  } catch (error) {
    if (!isFinal(error)) throw error;
    if (!definition) await updateTransform(services.db.orm, transformId, { lastError: error.detail });
    await endTransformJob(services, job, toProblem(error), await describeForOthers(services, job.workbookId as string, error));
    return 'over';
  }
}

/** The stored transform, by name where one is to be replaced: it may have been made or deleted meanwhile. */
async function findStored({ db }: Services, job: JobRecord<'transform'>): Promise<TransformRecord | null> {
  const { transformId, definition } = job.input;
  if (definition && job.workbookId !== null) return findTransform(db.orm, job.workbookId, definition.name);
  return (await listTransformsById(db.orm, [transformId]))[0] ?? null;
}

function requireStored(stored: TransformRecord | null): TransformRecord {
  if (!stored) throw notFound('transform in this workbook');
  return stored;
}

/** After this time the workflow decides how to go on, as every activity has its limit of time. */
const longestChainMs = 60_000;

/**
 * Runs a transform again because an input changed, and returns those that can be run then, also those that are running already. A
 * refusal is remembered and does not end the job. `isAlone`: nothing else of the job is running, so that a transform which alone
 * can be run next is run here, too. Not after a failure: each of them is tried as often as any other then.
 */
export async function rerunTransform(
  services: Services,
  jobId: string,
  { transformId, isAlone }: { transformId: string; isAlone: boolean },
  activity: ActivityContext,
): Promise<string[]> {
  const settle = (id: string) => settleRun(services, jobId, id, (job) => rerun(services, job, id, activity));
  const began = Date.now();
  let next = await settle(transformId);
  if (!isAlone || (activity.attempt ?? 1) > 1) return next;
  for (let [only] = next; only !== undefined && next.length === 1 && Date.now() - began < longestChainMs; [only] = next) {
    activity.signal?.throwIfAborted();
    next = await settle(only);
  }
  return next;
}

/** Does `settle` unless the run has an outcome already, and returns the transforms that can be run next. */
async function settleRun(
  services: Services,
  jobId: string,
  transformId: string,
  settle: (job: RunJob) => Promise<void>,
): Promise<string[]> {
  const [job, done] = await Promise.all([
    openJob(services, jobId, 'transform', 'recompute', 'restore'),
    findDraft(services.db.orm, jobId, runStage(transformId)),
  ]);
  if (!job) return [];
  if (!done) await settle(job);
  return chooseRuns(services, job);
}

async function rerun(services: Services, job: RunJob, transformId: string, activity: ActivityContext): Promise<void> {
  try {
    const asker = requireAsker(services, job, 'editor');
    await retryOnMove(async () => {
      const [[stored]] = await Promise.all([listTransformsById(services.db.orm, [transformId]), asker]);
      // Deleted meanwhile.
      if (stored) await runOnce(services, job, { transformId, stored, definition: stored, principal: null }, activity);
    });
  } catch (error) {
    if (!isFinal(error) || activity.signal?.aborted) throw error;
    await rememberFailure(services, job, transformId, error);
  }
}

/** Leaves a transform that could not be run, for a reason of ours, to the next recompute. Returns those that can be run next. */
export function giveUpRun(services: Services, jobId: string, transformId: string): Promise<string[]> {
  const failure = new DomainError('unavailable', 'The transform could not be run just now.', 'Try again in a moment.');
  return settleRun(services, jobId, transformId, (job) => rememberFailure(services, job, transformId, failure));
}

async function rememberFailure(services: Services, job: RunJob, transformId: string, refusal: DomainError): Promise<void> {
  const { db } = services;
  const [stored] = await listTransformsById(db.orm, [transformId]);
  if (!stored) return;
  await updateTransform(db.orm, transformId, { lastError: refusal.detail });
  const error = await describeForOthers(services, stored.workbookId, refusal);
  const failed = { tableId: stored.outputId ?? '', name: stored.output, error };
  const outcome: RunOutcome = {
    transformId,
    opId: null,
    created: false,
    conflicts: [],
    at: new Date().toISOString(),
    output: null,
    failed,
  };
  await saveDraft(db.orm, job.id, runStage(transformId), outcome);
}

/** The message of an engine may quote values, and a job is shown to everybody who sees the workbook. */
async function describeForOthers({ policies }: Services, workbookId: string, error: DomainError): Promise<string> {
  if (!(await policies.isGoverned(workbookId))) return error.detail;
  return error instanceof PythonFault ? error.withoutValues : 'The run failed.';
}

interface WantedRun {
  transformId: string;
  definition: TransformDefinition;
  stored: TransformRecord | null;
  /** Who asked for this run; null where it follows from another. */
  principal: Principal | null;
}

/** Null: the job has ended meanwhile. */
async function runOnce(
  services: Services,
  job: RunJob,
  { transformId, definition, stored, principal }: WantedRun,
  activity: ActivityContext,
): Promise<RunOutcome | null> {
  const before = stored?.outputId ? await findCurrentTableById(services.db.pool, stored.outputId) : null;
  refuseArchived(before);
  const place = { workbookId: job.workbookId as string, accountId: job.accountId, id: before?.table.id ?? makeId('tbl') };
  const { signal } = activity;
  const defines = job.kind === 'transform' && job.input.definition !== null && principal !== null;
  const asker = { userId: job.userId, principal, isStored: !defines, ...(signal ? { signal } : {}) };
  const { plan, rows } = await executeRun(services, asker, definition, { before, prefix: tablePrefix(place) });
  const run: PreparedRun = {
    transformId: stored?.id ?? transformId,
    definition: pickDefinition(definition),
    stored,
    defines,
    output: { ...place, before },
    plan,
    rows,
  };
  return commitRun(services, job, principal ? ownStage : runStage(transformId), run);
}

function refuseArchived(before: TableAt | null): void {
  if (before?.table.state !== 'archived') return;
  throw new DomainError('in-use', 'The output of the transform is archived.', 'Unarchive it first with POST …/artifacts/{name}/unarchive.');
}

const pickDefinition = ({ name, language, template, args, output, key, materialize }: TransformDefinition): TransformDefinition => ({
  name,
  language,
  template,
  args,
  output,
  key,
  materialize,
});
