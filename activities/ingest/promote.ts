import { DomainError } from '../../core/errors.ts';
import { rawTableArchived } from '../../core/journal/sourceNotes.ts';
import { type NameRegistry, nameArchivedRaw } from '../../core/structuring/names.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import { lockTables, placeTable } from '../../store/pg/restore.ts';
import {
  findDraft,
  finishStructuring,
  insertTableInputs,
  type LandedTable,
  listDerived,
  listLanded,
  lockSource,
  type SourceRecord,
} from '../../store/pg/sources.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { settleCredits } from '../credits/settleCredits.ts';
import { asProblem, commitForJob, isFinal, openJob } from '../jobs/runJob.ts';
import { abandonIfGone, endIngest, fallBack, refuseIngest } from './endIngest.ts';
import { inputOf } from './ingestJob.ts';
import type { RawDraft } from './landRaw.ts';
import { landTable, relandTable, type WrittenTable } from './landTables.ts';
import { openNames, retryOnNames } from './names.ts';
import type { StructuredDraft } from './structure.ts';

/** The last step of an ingest: what was prepared takes its place, all of it in one transaction. */
export async function promote(services: Services, jobId: string): Promise<'over'> {
  const job = await openJob(services, jobId);
  if (!job) return 'over';
  await updateJob(services.db.orm, jobId, { stage: 'promote', done: 0, total: null });
  const drafts = {
    raw: await findDraft<RawDraft>(services.db.orm, jobId, 'raw'),
    structured: await findDraft<StructuredDraft>(services.db.orm, jobId, 'tables'),
  };
  const isRevision = inputOf(job).revise !== undefined;
  try {
    await retryOnNames(() =>
      commitForJob(services, job, (tx, current) => (isRevision ? revise(tx, current, drafts) : takeOver(tx, current, drafts.structured))),
    );
  } catch (error) {
    if (!(error instanceof DomainError && isFinal(error))) throw error;
    await commitForJob(services, job, (tx, current) =>
      isRevision ? refuseIngest(tx, current, asProblem(error)) : fallBack(tx, current, `failed:${error.detail}`),
    );
  }
  return 'over';
}

interface Drafts {
  raw: RawDraft | null;
  structured: StructuredDraft | null;
}

/** Structured tables take over the file's name; the raw ones they were made from are archived. */
async function takeOver(tx: Tx, job: JobRecord, draft: StructuredDraft | null): Promise<void> {
  if (!draft) throw new Error(`job ${job.id} has nothing to promote`);
  const source = await lockAll(tx, job);
  if (await abandonIfGone(tx, job, source)) return;
  const raw = (await listLanded(tx.orm, [source.id])).filter(
    ({ landing }) => landing.role === 'raw' && draft.understood.includes(landing.sheet),
  );
  const why = await whyNot(tx, raw);
  if (why) return fallBack(tx, job, `failed:${why}`);
  for (const { table } of raw) await archiveTable(tx, source, table, nameArchivedRaw(table.name));
  const names = await openNames(tx, source.workbookId);
  const rawBySheet = new Map(raw.map(({ landing, table }) => [landing.sheet, table.id]));
  await landAll(tx, job, source, draft.tables, names, rawBySheet);
  await endStructured(tx, job, source, draft, { extents: source.extents });
}

/** What somebody has built on, or worked into, the raw tables must not disappear under it. */
async function whyNot(tx: Tx, raw: LandedTable[]): Promise<string | null> {
  const derived = await listDerived(
    tx,
    raw.map(({ table }) => table.id),
  );
  if (derived.length > 0) return 'something was derived from a raw table meanwhile, so the raw tables stay';
  if (raw.some(isEdited)) return 'a raw table was edited meanwhile, so the raw tables stay';
  return null;
}

const isEdited = ({ landing, table }: LandedTable) => table.editVersion !== landing.editVersion;

async function archiveTable(tx: Tx, source: SourceRecord, table: LandedTable['table'], name: string): Promise<void> {
  await placeTable(tx, table.id, { name, state: 'archived', description: table.description });
  tx.note(source.workbookId, rawTableArchived(source, { id: table.id, name }, table.editVersion, table.name));
}

async function landAll(
  tx: Tx,
  job: JobRecord,
  source: SourceRecord,
  tables: WrittenTable[],
  names: NameRegistry,
  rawBySheet: Map<string, string>,
  before: Map<string, TableAt> = new Map(),
): Promise<void> {
  const { revision } = inputOf(job);
  for (const [index, table] of tables.entries()) {
    const at = before.get(table.tableId);
    // The raw tables of the source come first.
    const landing = { source, revision, table, position: 10_000 + index };
    if (at) await relandTable(tx, { ...landing, name: at.table.name }, at);
    else await landTable(tx, { ...landing, name: names.claim(table.name, table.sheet) });
    const inputId = rawBySheet.get(table.sheet);
    if (inputId && inputId !== table.tableId) await insertTableInputs(tx, [{ tableId: table.tableId, inputId, kind: 'structuring' }]);
  }
}

/** New bytes for a source: its tables get their next version, new ones come, those that nothing fills any more are archived. */
async function revise(tx: Tx, job: JobRecord, { raw, structured }: Drafts): Promise<void> {
  if (!raw) throw new Error(`job ${job.id} has nothing to promote`);
  const source = await lockAll(tx, job);
  if (await abandonIfGone(tx, job, source)) return;
  const landed = await listMade(tx, source.id);
  refuseEdited(landed);
  const current = await listTablesById(
    tx.client,
    landed.map(({ table }) => table.id),
  );
  const before = new Map(current.map((at) => [at.table.id, at]));
  const made = new Set([...raw.tables, ...(structured?.tables ?? [])].map((table) => table.tableId));
  for (const { table } of landed) if (!made.has(table.id) && table.state === 'active') await archiveTable(tx, source, table, table.name);
  const names = await openNames(tx, source.workbookId);
  const structuredBefore = landed.flatMap(({ landing }) => (landing.role === 'raw' ? [] : [landing.sheet]));
  const sheets = { before: new Set(structuredBefore), now: new Set(structured?.understood), tables: before };
  await relandRaw(tx, job, source, raw.tables, sheets, names);
  const rawBySheet = new Map(raw.tables.map((table) => [table.sheet, table.tableId]));
  await landAll(tx, job, source, structured?.tables ?? [], names, rawBySheet, before);
  const { revision } = inputOf(job);
  const { revise: bytes } = inputOf(job);
  const fields = { ...bytes, revision, extents: raw.extents };
  if (structured) await endStructured(tx, job, source, structured, fields);
  else await endIngest(tx, job, source, { structuring: 'skipped', fields });
}

/**
 * The raw tables of a revision. One gives way when its sheet is made into tables for the first time, and comes back when its
 * sheet is not understood any more; otherwise it stays in the state that it has.
 */
async function relandRaw(tx: Tx, job: JobRecord, source: SourceRecord, tables: WrittenTable[], sheets: Sheets, names: NameRegistry) {
  const { revision } = inputOf(job);
  for (const [position, table] of tables.entries()) {
    const landing = { source, revision, table, position };
    const at = sheets.tables.get(table.tableId);
    const isUnderstood = sheets.now.has(table.sheet);
    if (at) {
      const name =
        isUnderstood === sheets.before.has(table.sheet) ? at.table.name : await swapRaw(tx, source, table, at, isUnderstood, names);
      await relandTable(tx, { ...landing, name }, at);
      continue;
    }
    const name = names.claim(table.name, table.sheet);
    await landTable(tx, { ...landing, name });
    if (!isUnderstood) continue;
    names.free(name);
    await placeTable(tx, table.tableId, { name: nameArchivedRaw(name), state: 'archived', description: null });
  }
}

async function swapRaw(
  tx: Tx,
  source: SourceRecord,
  written: WrittenTable,
  { table }: TableAt,
  isUnderstood: boolean,
  names: NameRegistry,
) {
  if (isUnderstood && table.state === 'archived') return table.name;
  if (isUnderstood) {
    names.free(table.name);
    await archiveTable(tx, source, table, nameArchivedRaw(table.name));
    return nameArchivedRaw(table.name);
  }
  const name = table.state === 'active' ? table.name : names.claim(written.name, written.sheet);
  await placeTable(tx, table.id, { name, state: 'active', description: table.description });
  return name;
}

/** Which sheets were made into tables, before and now, and the tables that are there. */
interface Sheets {
  before: Set<string>;
  now: Set<string>;
  tables: Map<string, TableAt>;
}

/** Tables that were made from the source; those that rows of it were appended to are somebody else's. */
export async function listMade(tx: Tx, sourceId: string): Promise<LandedTable[]> {
  return (await listLanded(tx.orm, [sourceId])).filter(({ landing }) => landing.role !== 'appended');
}

export function refuseEdited(landed: LandedTable[]): void {
  const edited = landed.filter(isEdited).map(({ table }) => table.name);
  if (edited.length === 0) return;
  throw new DomainError(
    'in-use',
    `Tables of this source were edited since: ${edited.slice(0, 10).join(', ')}.`,
    'Upload the file as a source of its own, or undo the edits first.',
  );
}

async function endStructured(
  tx: Tx,
  job: JobRecord,
  source: SourceRecord,
  { spec }: StructuredDraft,
  fields: Partial<SourceRecord>,
): Promise<void> {
  const contentHash = fields.sha256 ?? source.sha256;
  const isNew = await finishStructuring(tx, { accountId: source.accountId, contentHash, jobId: job.id, filename: source.name, spec });
  const creditsCharged = isNew ? await settleCredits(tx, job.id, source.accountId) : 0;
  await endIngest(tx, job, source, {
    structuring: 'structured',
    creditsCharged,
    fields: { ...fields, spec, specVersion: source.specVersion + 1 },
  });
}

/** The source, then the workbook's tables in ascending id: the order of every change. */
async function lockAll(tx: Tx, job: JobRecord): Promise<SourceRecord> {
  const source = (await lockSource(tx, inputOf(job).sourceId)) as SourceRecord;
  await lockTables(tx, source.workbookId, []);
  return source;
}
