import { MAX_ROWS } from '../../core/a1/address.ts';
import { priceStructuring } from '../../core/credits/priceList.ts';
import { DomainError } from '../../core/errors.ts';
import { isFinal, toProblem } from '../../core/jobs/endings.ts';
import { isRecordFormat } from '../../core/records/records.ts';
import { baseOfFile } from '../../core/structuring/names/names.ts';
import type { SheetExtent } from '../../schema/index.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { ProcessGone } from '../../store/duckdb/sandbox/process.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type IngestJob, updateJob, updateJobInTx } from '../../store/pg/jobs.ts';
import {
  claimStructuring,
  deleteStructuringClaim,
  findDraft,
  findSourceById,
  type LandedTable,
  listLanded,
  lockSource,
  type SourceRecord,
  saveDraft,
  updateSource,
} from '../../store/pg/sources.ts';
import { reserveRows } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { requestPayment } from '../billing/startPayments.ts';
import { reserveCredits } from '../credits/reserveCredits.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { reportProgress } from '../jobs/reportProgress.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { withRoomForTables } from '../storage/withRoom.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { abandonIfGone, endIngest, fallBack, refuseIngest } from './endIngest.ts';
import type { NextStructure } from './fileProgram/requests.ts';
import { landNew, type RawDraft, type WrittenTable } from './landTables.ts';
import { fileOfIngest } from './readSourceFile.ts';
import { scanRecords } from './scanRecords.ts';
import { openTableNames, retryOnTakenName } from './tableNames.ts';
import { findWantedStructure } from './wantedStructure.ts';
import { workOnFile } from './workOnFile.ts';

/** What the step that follows at once need not read again. */
export interface LandedFile {
  job: IngestJob;
  source: SourceRecord;
}

/**
 * First half of an ingest: stores a faithful copy of each sheet as tables. Null if no structuring follows. Refuses files that
 * cannot be read, and then leaves nothing behind.
 */
export async function landRaw(services: Services, jobId: string, activity: ActivityContext): Promise<LandedFile | null> {
  const job = await openJob(services, jobId, 'ingest', 'file_link');
  if (!job) return null;
  await updateJob(services.db.orm, jobId, { status: 'running', ...(job.stage === null ? { stage: 'read' } : {}) });
  try {
    const draft = await prepareRaw(services, job, activity);
    await requireAsker(services, job, 'editor');
    const added = (!job.input.landed && draft?.tables) || [];
    const commit = () => retryOnTakenName(() => commitForJob(services, job, (tx, current) => land(services, tx, current, draft)));
    const landed = await withRoomForTables(services, job.accountId, added, () => retryOnMove(commit));
    return landed === 'over' ? null : landed;
  } catch (error) {
    if (!isFinal(error)) throw error;
    await commitForJob(services, job, (tx, current) => refuseIngest(tx, current, toProblem(error)));
    return null;
  }
}

async function prepareRaw(services: Services, job: IngestJob, activity: ActivityContext): Promise<RawDraft | null> {
  const { input } = job;
  const source = await findSourceById(services.db.orm, input.sourceId);
  if (!source) throw new Error(`job ${job.id} is about a source that is gone`);
  const landed = (await listLanded(services.db.orm, [source.id])).filter(({ landing }) => landing.role === 'raw');
  if (landed.length > 0 && !input.revise) return null;
  const before = await findDraft<RawDraft>(services.db.orm, job.id, 'raw');
  if (before) return before;
  const file = fileOfIngest(source, input);
  const { format } = file;
  const draft = isRecordFormat(format)
    ? await scanRecords(services, job, source, { ...file, format }, landed, activity)
    : await scanFile(services, job, source, landed, activity);
  await saveDraft(services.db.orm, job.id, 'raw', draft);
  return draft;
}

async function scanFile(
  services: Services,
  job: IngestJob,
  source: SourceRecord,
  landed: LandedTable[],
  activity: ActivityContext,
): Promise<RawDraft> {
  const file = fileOfIngest(source, job.input);
  // A revision goes into the existing tables, with new row ids.
  const places = new Map<string, { tableId: string; rowBase: number }>();
  for (const { landing, table } of landed)
    places.set(landing.sheet, { tableId: table.id, rowBase: (await reserveRows(services.db.pool, table.id, MAX_ROWS)) - 1 });
  const placeOf = (sheet: string) => {
    const place = places.get(sheet) ?? { tableId: makeId('tbl'), rowBase: 0 };
    places.set(sheet, place);
    return place;
  };
  const progress = reportProgress(services, job.id, 'read');
  const rowBases = [...places].map(([sheet, { rowBase }]): [string, number] => [sheet, rowBase]);
  const isStructuredNext = job.input.structuring !== 'skip' && services.config.structuring;
  const mayBeFirst = job.input.structuring !== 'defer';
  const next = isStructuredNext ? { wanted: await findWantedStructure(services, source, file), mayBeFirst } : null;
  const limits = { ...activity, ...(isStructuredNext ? { hold: job.id } : {}) };
  const write = (next: NextStructure | null) =>
    workOnFile(services, job.userId, file, limits, async (open) => {
      const written = await open.ask('writeRaw', { input: open.input, rowBases, next }, ({ done, total }) => progress.step(done, total));
      return open.keepFiles(written, ({ sheet }) => tablePrefix({ ...source, id: placeOf(sheet).tableId }));
    });
  const sheets = await write(next).catch((error: unknown) => {
    // A copy takes little, so that a file which is too much for structuring lands all the same.
    if (next && error instanceof DomainError && error.cause instanceof ProcessGone) return write(null);
    throw error;
  });
  await progress.settle();
  if (sheets.length === 0)
    throw new DomainError('validation-failed', 'No sheet of the file has a cell with content.', 'Send a file with content.');
  const base = baseOfFile(source.name);
  const tables = sheets.map((sheet): WrittenTable => {
    const { tableId, rowBase } = placeOf(sheet.sheet);
    return {
      tableId,
      rowBase,
      name: sheets.length > 1 ? `${base}_${sheet.sheet}` : base,
      role: 'raw',
      sheet: sheet.sheet,
      regionId: null,
      range: null,
      columns: sheet.columns.map((column, i) => ({ id: i + 1, ...column })),
      rowCount: sheet.rowCount,
      maxRowId: sheet.maxRowId,
      layers: sheet.layers,
      provenanceKey: null,
      kept: sheet.kept,
    };
  });
  const extents = sheets.map((sheet) => ({
    name: sheet.sheet,
    rows: sheet.maxRowId - placeOf(sheet.sheet).rowBase,
    columns: sheet.columns.length,
    cells: sheet.cells,
  }));
  return { tables, extents };
}

async function land(services: Services, tx: Tx, job: IngestJob, draft: RawDraft | null): Promise<LandedFile | 'over'> {
  const { input } = job;
  let source = (await lockSource(tx, input.sourceId)) as SourceRecord;
  // An earlier run of this activity stored the tables but could not report it.
  if (input.landed) return { job, source };
  if (await abandonIfGone(tx, job, source)) return 'over';
  if (draft && !input.revise) {
    const names = await openTableNames(tx, source.workbookId);
    const landing = { source, revision: input.revision };
    await landNew(
      tx,
      draft.tables.map((table, position) => ({ ...landing, table, name: names.claim(table.name, table.sheet), position })),
    );
    source = await updateSource(tx, source.id, { extents: draft.extents, mode: 'auto' });
  }
  // Files of records have their names and types already.
  const isSkipped = input.structuring === 'skip' || isRecordFormat(fileOfIngest(source, input).format);
  if (isSkipped || !services.config.structuring) {
    if (input.revise && isSkipped) return goOn(tx, job, source);
    if (input.revise) {
      await fallBack(tx, job, 'failed:structuring is switched off');
      return 'over';
    }
    await endIngest(tx, job, source, { structuring: isSkipped ? 'skipped' : 'off' });
    return 'over';
  }
  const extents = (input.revise && draft ? draft.extents : source.extents) ?? [];
  const paid = await payAhead(services, tx, job, source, extents);
  if (paid === 'building' || paid === 'no_credits') {
    await fallBack(tx, job, paid);
    return 'over';
  }
  return goOn(tx, job, source);
}

/** Content that was paid for before is free; content that is being structured right now is not structured twice. */
async function payAhead(
  services: Services,
  tx: Tx,
  job: IngestJob,
  source: SourceRecord,
  extents: SheetExtent[],
): Promise<'building' | 'no_credits' | 'free' | 'reserved'> {
  const { sha256: contentHash, format } = fileOfIngest(source, job.input);
  // A text file of one line is a header without records: there is nothing to structure.
  if (format !== 'xlsx' && extents.every(({ rows }) => rows <= 1)) return 'free';
  const standing = await claimStructuring(tx, { accountId: source.accountId, contentHash, jobId: job.id, filename: source.name });
  if (standing) return standing.state === 'building' ? 'building' : 'free';
  const amount = priceStructuring(extents.reduce((sum, sheet) => sum + sheet.cells, 0));
  const reserved = await reserveCredits(tx, {
    accountId: source.accountId,
    workbookId: source.workbookId,
    jobId: job.id,
    amount,
    unlimited: services.config.credits === 'unlimited',
    whenLow: () => requestPayment(services, source.accountId),
  });
  if (reserved === 'no_credits') await deleteStructuringClaim(tx, job.id);
  return reserved;
}

async function goOn(tx: Tx, job: IngestJob, source: SourceRecord): Promise<LandedFile> {
  const input = { ...job.input, landed: true };
  await updateJobInTx(tx, job.id, { stage: 'structure', done: 0, total: null, input });
  if (input.structuring === 'defer' && !input.revise)
    await updateSource(tx, source.id, { status: 'materialized', structuring: 'deferred', structuringReason: null });
  return { job: { ...job, input } as IngestJob, source };
}
