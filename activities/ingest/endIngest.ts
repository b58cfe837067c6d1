import { asSentence } from '../../core/errors.ts';
import { type Ending, endings, type JobProblem } from '../../core/jobs/endings.ts';
import { sourceIngested, sourceRefused } from '../../core/journal/sourceNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { listConflictsOf } from '../../store/pg/conflicts.ts';
import type { IngestJob } from '../../store/pg/jobs.ts';
import { deleteSource, deleteStructuringClaim, listLanded, lockSource, type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import { findWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { releaseCredits } from '../credits/releaseCredits.ts';
import { cutVersion } from '../fileLinks/cutVersion.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { failJob, succeedJob } from '../jobs/endJob.ts';
import { retryOnMove } from '../tables/editTable.ts';

export interface Outcome {
  structuring: NonNullable<SourceRecord['structuring']>;
  reason?: string;
  creditsCharged?: number;
  /** Tables that the new bytes leave as they are. */
  same?: ReadonlySet<string>;
  /** Other fields of the source to update. */
  fields?: Partial<SourceRecord>;
}

/** Runs inside the transaction: the ingest succeeded, with or without structured tables. */
export async function endIngest(tx: Tx, job: IngestJob, source: SourceRecord, outcome: Outcome): Promise<void> {
  await updateSource(tx, source.id, {
    ...outcome.fields,
    status: 'materialized',
    structuring: outcome.structuring,
    structuringReason: outcome.reason ?? null,
    error: null,
    jobId: null,
  });
  const creditsCharged = outcome.creditsCharged ?? 0;
  tx.note(source.workbookId, sourceIngested(source, outcome.structuring, outcome.reason));
  if (job.kind === 'ingest') return succeedJob(tx, job, { sourceId: source.id, creditsCharged });
  const landed = (await listLanded(tx.orm, [source.id])).filter(({ table }) => !outcome.same?.has(table.id));
  await succeedJob(tx, job, {
    linkId: job.input.link.linkId,
    n: await cutVersion(tx, source, job.input.link),
    changed: true,
    tableIds: landed.flatMap(({ table }) => (table.state === 'active' ? [table.id] : [])),
    conflicts: await listConflictsOf(
      tx.orm,
      landed.map(({ landing }) => landing),
    ),
    creditsCharged,
  });
}

/**
 * Runs inside the transaction: keeps the raw tables and does not charge for structuring. A revision that falls back is refused
 * as a whole.
 */
export async function fallBack(tx: Tx, job: IngestJob, reason: string): Promise<void> {
  const source = (await lockSource(tx, job.input.sourceId)) as SourceRecord;
  await giveBack(tx, job);
  if (job.input.revise) return refuseIngest(tx, job, explainReason(reason));
  await endIngest(tx, job, source, { structuring: 'raw_fallback', reason });
}

function explainReason(reason: string): JobProblem {
  if (reason === 'no_credits')
    return { code: 'out-of-credits', detail: 'The account is out of credits.', suggestedFix: 'Buy credits, or wait for the next month.' };
  if (reason === 'building')
    return {
      code: 'in-use',
      detail: 'The same content is being structured for another source right now.',
      suggestedFix: 'Try again in a moment.',
    };
  return {
    code: 'validation-failed',
    detail: asSentence(`The new file could not be structured: ${reason.replace(/^failed:/, '')}`),
    suggestedFix: 'Upload it as a source of its own.',
  };
}

/** Runs inside the transaction: refuses the file. Removes a source that is new; one that existed stays as it was. */
export async function refuseIngest(tx: Tx, job: IngestJob, problem: JobProblem): Promise<void> {
  const { input } = job;
  const source = await lockSource(tx, input.sourceId);
  await giveBack(tx, job);
  if (source && !input.existed) await deleteSource(tx, source.id);
  else if (source) await updateSource(tx, source.id, { status: await settledStatus(tx, source), jobId: null });
  if (source) tx.note(source.workbookId, sourceRefused(source, problem.code));
  await failJob(tx, job, problem);
}

async function settledStatus(tx: Tx, source: SourceRecord): Promise<SourceRecord['status']> {
  if ((await listLanded(tx.orm, [source.id])).length > 0) return 'materialized';
  return source.spec ? 'analyzed' : 'registered';
}

/** Structuring failed through no fault of the file: keeps the raw tables. */
export async function fallBackIngest(services: Services, jobId: string, reason: string): Promise<void> {
  await endJob(services, jobId, (tx, job) => fallBack(tx, job, reason));
}

/** The file could not be read, through no fault of its own. */
export async function failIngest(services: Services, jobId: string): Promise<void> {
  const problem = { code: 'unavailable', detail: 'The file could not be read just now.', suggestedFix: 'Try again in a moment.' };
  await endJob(services, jobId, (tx, job) => refuseIngest(tx, job, problem));
}

export async function abandonIngest(services: Services, jobId: string, why: Ending): Promise<void> {
  await endJob(services, jobId, (tx, job) => abandon(tx, job, why));
}

async function endJob(services: Services, jobId: string, end: (tx: Tx, job: IngestJob) => Promise<void>): Promise<void> {
  const job = await openJob(services, jobId, 'ingest', 'file_link');
  if (job) await retryOnMove(() => commitForJob<void, IngestJob['kind']>(services, job, end));
}

/** Runs inside the transaction: ends the job without charge if the workbook was deleted meanwhile. */
export async function abandonIfGone(tx: Tx, job: IngestJob, source: SourceRecord): Promise<boolean> {
  if (await findWorkbook(tx.orm, source.workbookId)) return false;
  await abandon(tx, job, 'cancelled');
  return true;
}

async function abandon(tx: Tx, job: IngestJob, why: Ending): Promise<void> {
  await giveUp(tx, job, endings[why], why);
}

/** Runs inside the transaction: fails the job but keeps raw tables that were stored. */
export async function giveUp(tx: Tx, job: IngestJob, problem: JobProblem, why: string): Promise<void> {
  const { input } = job;
  const hasRaw = (await listLanded(tx.orm, [input.sourceId])).some(({ landing }) => landing.role === 'raw');
  if (input.revise || !hasRaw) return refuseIngest(tx, job, problem);
  await giveBack(tx, job);
  await updateSource(tx, input.sourceId, {
    status: 'materialized',
    structuring: 'raw_fallback',
    structuringReason: `failed:${why}`,
    jobId: null,
  });
  await failJob(tx, job, problem);
}

async function giveBack(tx: Tx, job: IngestJob): Promise<void> {
  await releaseCredits(tx, job.id, job.accountId);
  await deleteStructuringClaim(tx, job.id);
}
