import { extname } from 'node:path';
import type { LinkChange } from '../../core/jobs/linkJobs.ts';
import type { IngestInput } from '../../core/jobs/sourceJobs.ts';
import { sourceRegistered, sourceUpgraded } from '../../core/journal/sourceNotes.ts';
import { isRecordFormat } from '../../core/records/records.ts';
import type { SourceProvenance } from '../../schema/index.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type JobRecord, lockJob, updateJobInTx } from '../../store/pg/jobs.ts';
import {
  findSourceByContent,
  insertSource,
  listSourceNames,
  lockSource,
  lockSources,
  type SourceRecord,
  updateSource,
} from '../../store/pg/sources.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId } from '../../store/services.ts';
import { beginSourceJob, sourceBusy } from './beginSourceJob.ts';
import type { RecognisedFile } from './recogniseFile.ts';

/** An uploaded file, stored in the blob store. */
export interface Arrival extends RecognisedFile {
  workbook: Pick<VisibleWorkbook, 'id' | 'accountId'>;
  filename: string;
  blobKey: string;
  size: number;
  sha256: string;
  mode: 'auto' | 'staged';
  structuring: IngestInput['structuring'];
  provenance: Omit<SourceProvenance, 'at'>;
  /** The request is answered before the job ends. */
  announce: boolean;
}

export interface Registered {
  source: SourceRecord;
  /** The ingest, new or already running; null if there is nothing to do. */
  job: JobRecord | null;
  existed: boolean;
  /** The job was asked for, and is paid for, by another request. */
  joined?: true;
}

/**
 * Runs inside the transaction. Registers a new source, or finds the one with the same bytes: that one is upgraded if more is
 * asked of it, and joined if it is being ingested.
 */
export async function registerSource(tx: Tx, arrival: Arrival): Promise<Registered> {
  const { workbook } = arrival;
  await lockSources(tx, workbook.id);
  const twin = await lockTwin(tx, workbook.id, arrival.sha256);
  if (twin?.job && twin.job.finishedAt === null) return joinJob(tx, twin.source, twin.job, arrival);
  if (twin)
    return asksForMore(twin.source, arrival) ? upgradeSource(tx, twin.source, arrival) : { source: twin.source, job: null, existed: true };
  return addSource(tx, arrival, freeName(arrival.filename, await listSourceNames(tx.orm, workbook.id)));
}

/** Runs inside the transaction: a source of its own, whatever others hold. `link`: of the tracked file that feeds it. */
export async function addSource(tx: Tx, arrival: Arrival, name: string, link?: LinkChange): Promise<Registered> {
  const { workbook } = arrival;
  const source = await insertSource(tx, {
    id: makeId('src'),
    workbookId: workbook.id,
    accountId: workbook.accountId,
    userId: tx.actor.userId,
    name,
    filename: arrival.filename,
    mode: arrival.mode,
    status: arrival.mode === 'staged' ? 'registered' : 'ingesting',
    format: arrival.format,
    contentType: arrival.contentType,
    size: arrival.size,
    sha256: arrival.sha256,
    blobKey: arrival.blobKey,
    provenance: { ...arrival.provenance, at: tx.at.toISOString() },
    structuring: arrival.mode === 'staged' ? 'off' : null,
    createdAt: tx.at,
    updatedAt: tx.at,
  });
  tx.note(workbook.id, sourceRegistered(source));
  if (arrival.mode === 'staged') return { source, job: null, existed: false };
  const input = { sourceId: source.id, revision: 1, structuring: arrival.structuring, existed: false };
  const job = link
    ? await beginSourceJob(tx, 'file_link', source, { ...input, link })
    : await beginSourceJob(tx, 'ingest', source, input, arrival.announce);
  return { source: await updateSource(tx, source.id, { jobId: job.id }), job, existed: false };
}

/** Finds the source with these bytes and its job. Locks the job first, as those who end jobs do. */
async function lockTwin(tx: Tx, workbookId: string, sha256: string): Promise<{ source: SourceRecord; job: JobRecord | null } | null> {
  const seen = await findSourceByContent(tx, workbookId, sha256);
  const job = seen?.jobId ? await lockJob(tx, seen.jobId) : null;
  // The job may have ended while we waited for its lock, so the source is read again.
  const twin = job ? await findSourceByContent(tx, workbookId, sha256) : seen;
  const source = twin && (await lockSource(tx, twin.id));
  if (!source) return null;
  if (source.jobId !== null && source.jobId !== job?.id) throw sourceBusy();
  return { source, job: source.jobId === null ? null : job };
}

/** Joins a running ingest, whose result is shared. If it has not stored its raw tables yet, it takes over the higher demand. */
async function joinJob(tx: Tx, source: SourceRecord, job: JobRecord, arrival: Arrival): Promise<Registered> {
  if (arrival.mode === 'staged') return { source, job: null, existed: true };
  if (job.kind !== 'ingest') throw sourceBusy();
  const { input } = job;
  const structuring = input.structuring === 'skip' && !input.revise ? arrival.structuring : input.structuring;
  await updateJobInTx(tx, job.id, { input: { ...input, structuring }, announce: job.announce || arrival.announce });
  return { source, job, existed: true, joined: true };
}

async function upgradeSource(tx: Tx, source: SourceRecord, arrival: Arrival): Promise<Registered> {
  const job = await beginSourceJob(
    tx,
    'ingest',
    source,
    {
      sourceId: source.id,
      revision: source.revision,
      structuring: arrival.structuring,
      existed: true,
    },
    arrival.announce,
  );
  tx.note(source.workbookId, sourceUpgraded(source));
  return { source: await updateSource(tx, source.id, { status: 'ingesting', jobId: job.id }), job, existed: true };
}

/** In ascending order: bytes only, raw tables, structured tables. */
function asksForMore(source: SourceRecord, { mode, structuring }: Arrival): boolean {
  if (mode === 'staged') return false;
  if (source.mode === 'staged') return true;
  // Files of records are never structured.
  if (isRecordFormat(source.format)) return false;
  return (
    structuring !== 'skip' && (source.structuring === 'skipped' || source.structuring === 'raw_fallback' || source.structuring === 'off')
  );
}

/** `損益.xlsx`, then `損益_2.xlsx`. */
function freeName(filename: string, taken: Set<string>): string {
  const extension = extname(filename);
  const base = extension === '' ? filename : filename.slice(0, -extension.length);
  let name = filename;
  for (let n = 2; taken.has(name); n += 1) name = `${base}_${n}${extension}`;
  return name;
}
