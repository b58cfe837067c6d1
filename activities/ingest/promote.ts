import { DomainError } from '../../core/errors.ts';
import { appendToName, type NameRegistry } from '../../core/structuring/names.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
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
import { listTablesById, type TableAt } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import { settleCredits } from '../credits/settleCredits.ts';
import { endIngest, fallBack, refuseIngest } from './endIngest.ts';
import { asProblem, commitForJob, inputOf, isFinal, openJob } from './job.ts';
import type { RawDraft } from './landRaw.ts';
import { landTable, relandTable, type WrittenTable } from './landTables.ts';
import { openNames, retryOnNames } from './names.ts';
import type { StructuredDraft } from './structure.ts';

/** The last step of an ingest: what was prepared takes its place, all of it in one transaction. */
export async function promote(services: Services, jobId: string): Promise<'over'> {
  const job = await openJob(services, jobId);
  if (!job) return 'over';
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
    await commitForJob(services, job, (tx, current) => refuseIngest(tx, current, asProblem(error)));
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
  const raw = (await listLanded(tx.orm, [source.id])).filter(
    ({ landing }) => landing.role === 'raw' && draft.understood.includes(landing.sheet),
  );
  const why = await whyNot(tx, raw);
  if (why) return fallBack(tx, job, `failed:${why}`);
  for (const { table } of raw) await archiveRaw(tx, source, table);
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

async function archiveRaw(tx: Tx, source: SourceRecord, table: LandedTable['table']): Promise<void> {
  const name = appendToName(table.name, '_原本');
  await placeTable(tx, table.id, { name, state: 'archived', description: table.description });
  tx.note(source.workbookId, {
    ops: [
      {
        kind: 'table.archive',
        tableId: table.id,
        tableName: name,
        editVersion: table.editVersion,
        codeRef: `${table.id}@${table.editVersion}`,
      },
    ],
    audit: [{ action: 'table.archive', target: name, detail: { source_id: source.id, name_before: table.name } }],
    events: [{ id: makeId('evt'), type: 'artifact.updated', data: { name, edit_version: table.editVersion, state: 'archived' } }],
  });
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
  const landed = await listLanded(tx.orm, [source.id]);
  refuseEdited(landed);
  const current = await listTablesById(
    tx.client,
    landed.map(({ table }) => table.id),
  );
  const before = new Map(current.map((at) => [at.table.id, at]));
  const names = await openNames(tx, source.workbookId);
  const { revision } = inputOf(job);
  for (const [position, table] of raw.tables.entries()) {
    const at = before.get(table.tableId);
    const landing = { source, revision, table, position };
    if (at) await relandTable(tx, { ...landing, name: at.table.name }, at);
    else {
      const name = names.claim(table.name, table.sheet);
      await landTable(tx, { ...landing, name });
      if (structured?.understood.includes(table.sheet)) {
        names.free(name);
        await placeTable(tx, table.tableId, { name: appendToName(name, '_原本'), state: 'archived', description: null });
      }
    }
  }
  const rawBySheet = new Map(raw.tables.map((table) => [table.sheet, table.tableId]));
  await landAll(tx, job, source, structured?.tables ?? [], names, rawBySheet, before);
  const made = new Set([...raw.tables, ...(structured?.tables ?? [])].map((table) => table.tableId));
  for (const { table } of landed) {
    if (made.has(table.id) || table.state === 'archived') continue;
    await placeTable(tx, table.id, { name: table.name, state: 'archived', description: table.description });
    tx.note(source.workbookId, { audit: [{ action: 'table.archive', target: table.name, detail: { source_id: source.id } }] });
  }
  const { revise: bytes } = inputOf(job);
  const fields = { ...bytes, revision, extents: raw.extents };
  if (structured) await endStructured(tx, job, source, structured, fields);
  else await endIngest(tx, job, source, { structuring: 'skipped', fields });
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
  const creditsCharged = await settleCredits(tx, job.id, source.accountId);
  const contentHash = fields.sha256 ?? source.sha256;
  await finishStructuring(tx, { accountId: source.accountId, contentHash, jobId: job.id, filename: source.name, spec });
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
