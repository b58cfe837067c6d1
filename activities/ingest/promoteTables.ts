import { rawTableArchived } from '../../core/journal/sourceNotes.ts';
import type { NameRegistry } from '../../core/structuring/names/names.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { IngestJob } from '../../store/pg/jobs.ts';
import { lockTables, placeTable } from '../../store/pg/restore.ts';
import { finishStructuring, type LandedTable, lockSource, putStructured, type SourceRecord } from '../../store/pg/sources.ts';
import { holdTagsNow } from '../../store/pg/tagFlows.ts';
import { settleCredits } from '../credits/settleCredits.ts';
import { endIngest } from './endIngest.ts';
import { type CarriedEdits, keepLanding, type Landing, landNew, relandTable, type WrittenTable } from './landTables.ts';
import type { StructuredDraft } from './structure.ts';

export type CarriedByTable = ReadonlyMap<string, CarriedEdits>;

/** Holds tags, then locks the source and the workbook's tables by ascending id, in the same order as every change. */
export async function lockAll(tx: Tx, job: IngestJob): Promise<SourceRecord> {
  if (job.workbookId) await holdTagsNow(tx, job.workbookId);
  const source = (await lockSource(tx, job.input.sourceId)) as SourceRecord;
  await lockTables(tx, source.workbookId, []);
  return source;
}

export async function archiveTable(tx: Tx, source: SourceRecord, table: LandedTable['table'], name: string): Promise<void> {
  await placeTable(tx, table.id, { name, state: 'archived', description: table.description });
  tx.note(source.workbookId, rawTableArchived(source, { id: table.id, name }, table.editVersion, table.name));
}

export async function landAll(
  tx: Tx,
  job: IngestJob,
  source: SourceRecord,
  tables: WrittenTable[],
  names: NameRegistry,
  rawBySheet: Map<string, string>,
  before: Map<string, TableAt> = new Map(),
  carried: CarriedByTable = new Map(),
): Promise<void> {
  const { revision } = job.input;
  const fresh: Landing[] = [];
  for (const [index, table] of tables.entries()) {
    const at = before.get(table.tableId);
    // Places structured tables after the raw tables of the source.
    const landing = { source, revision, table, position: 10_000 + index };
    if (at && table.isSame) await keepLanding(tx, landing);
    else if (at) await relandTable(tx, { ...landing, name: at.table.name }, at, carried.get(table.tableId) ?? null);
    else fresh.push({ ...landing, name: names.claim(table.name, table.sheet) });
  }
  await landNew(tx, fresh);
  const edges = tables.flatMap(({ tableId, sheet, flows }) => {
    const inputId = rawBySheet.get(sheet);
    return inputId && inputId !== tableId ? [{ tableId, inputId, flows: flows ?? null }] : [];
  });
  await putStructured(tx, edges);
}

export async function endStructured(
  tx: Tx,
  job: IngestJob,
  source: SourceRecord,
  { spec }: StructuredDraft,
  fields: Partial<SourceRecord>,
  same: ReadonlySet<string> = new Set(),
): Promise<void> {
  const contentHash = fields.sha256 ?? source.sha256;
  const isNew = await finishStructuring(tx, { accountId: source.accountId, contentHash, jobId: job.id, filename: source.name, spec });
  const creditsCharged = isNew ? await settleCredits(tx, job.id, source.accountId) : 0;
  await endIngest(tx, job, source, {
    structuring: 'structured',
    creditsCharged,
    same,
    fields: { ...fields, spec, specVersion: source.specVersion + 1 },
  });
}
