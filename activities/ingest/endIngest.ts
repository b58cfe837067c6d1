import { asSentence, DomainError } from '../../core/errors.ts';
import { sourceIngested, sourceRefused } from '../../core/journal/sourceNotes.ts';
import type { JobProblem } from '../../schema/index.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { deleteSource, dropClaim, listLanded, lockSource, type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import { findWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { releaseCredits } from '../credits/releaseCredits.ts';
import { type Ending, endings } from '../jobs/endings.ts';
import { commitForJob, fail, openJob, succeed } from '../jobs/runJob.ts';
import { type IngestResult, inputOf } from './ingestJob.ts';

export interface Outcome {
  structuring: NonNullable<SourceRecord['structuring']>;
  reason?: string;
  creditsCharged?: number;
  /** What else is new about the source. */
  fields?: Partial<SourceRecord>;
}

/** Inside the transaction: the ingest is done, with structured tables or without. */
export async function endIngest(tx: Tx, job: JobRecord, source: SourceRecord, outcome: Outcome): Promise<void> {
  const input = inputOf(job);
  await updateSource(tx, source.id, {
    ...outcome.fields,
    status: 'materialized',
    structuring: outcome.structuring,
    structuringReason: outcome.reason ?? null,
    error: null,
    jobId: null,
  });
  const result: IngestResult = { sourceId: source.id, creditsCharged: outcome.creditsCharged ?? 0 };
  tx.note(source.workbookId, sourceIngested(source, outcome.structuring, outcome.reason));
  await succeed(tx, job, result, input.announce);
}

/** Inside the transaction: the raw tables stay, and structuring is not charged for. A revision is all or nothing. */
export async function fallBack(tx: Tx, job: JobRecord, reason: string): Promise<void> {
  const source = (await lockSource(tx, inputOf(job).sourceId)) as SourceRecord;
  await giveBack(tx, job);
  if (inputOf(job).revise) return refuseIngest(tx, job, explainReason(reason));
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

/** Inside the transaction: the file is refused. A source that came with it goes; one that was there stays as it was. */
export async function refuseIngest(tx: Tx, job: JobRecord, problem: JobProblem): Promise<void> {
  const input = inputOf(job);
  const source = await lockSource(tx, input.sourceId);
  await giveBack(tx, job);
  if (source && !input.existed) await deleteSource(tx, source.id);
  else if (source) await updateSource(tx, source.id, { status: await settledStatus(tx, source), jobId: null });
  if (source) tx.note(source.workbookId, sourceRefused(source, problem.code));
  await fail(tx, job, problem, input.announce);
}

async function settledStatus(tx: Tx, source: SourceRecord): Promise<SourceRecord['status']> {
  if ((await listLanded(tx.orm, [source.id])).length > 0) return 'materialized';
  return source.spec ? 'analyzed' : 'registered';
}

/** Structuring failed for no fault of the file: the raw tables stay. */
export async function fallBackIngest(services: Services, jobId: string, reason: string): Promise<void> {
  await endJob(services, jobId, (tx, job) => fallBack(tx, job, reason));
}

/** The file could not even be read, for no fault of its own. */
export async function failIngest(services: Services, jobId: string): Promise<void> {
  const problem = { code: 'unavailable', detail: 'The file could not be read just now.', suggestedFix: 'Try again in a moment.' };
  await endJob(services, jobId, (tx, job) => refuseIngest(tx, job, problem));
}

/** The job was cancelled or stopped. */
export async function abandonIngest(services: Services, jobId: string, why: Ending): Promise<void> {
  await endJob(services, jobId, (tx, job) => abandon(tx, job, why));
}

async function endJob(services: Services, jobId: string, end: (tx: Tx, job: JobRecord) => Promise<void>): Promise<void> {
  const job = await openJob(services, jobId);
  if (job) await commitForJob(services, job, end);
}

/** Inside the transaction: a workbook that was deleted meanwhile needs no tables, and nobody pays for them. */
export async function abandonIfGone(tx: Tx, job: JobRecord, source: SourceRecord): Promise<boolean> {
  if (await findWorkbook(tx.orm, source.workbookId)) return false;
  await abandon(tx, job, 'cancelled');
  return true;
}

/** Inside the transaction: what has landed stays, what has not goes. */
async function abandon(tx: Tx, job: JobRecord, why: Ending): Promise<void> {
  const input = inputOf(job);
  const hasRaw = (await listLanded(tx.orm, [input.sourceId])).some(({ landing }) => landing.role === 'raw');
  const problem = endings[why];
  if (input.revise || !hasRaw) return refuseIngest(tx, job, problem);
  await giveBack(tx, job);
  await updateSource(tx, input.sourceId, {
    status: 'materialized',
    structuring: 'raw_fallback',
    structuringReason: `failed:${why}`,
    jobId: null,
  });
  await fail(tx, job, problem, input.announce);
}

async function giveBack(tx: Tx, job: JobRecord): Promise<void> {
  await releaseCredits(tx, job.id, job.accountId);
  await dropClaim(tx, job.id);
}

/** For callers that find a source busy. */
export function sourceBusy(): DomainError {
  return new DomainError('in-use', 'An ingest of this source is running.', 'Wait for its job to end, or cancel it.');
}
