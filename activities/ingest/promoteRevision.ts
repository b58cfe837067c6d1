import { isRecordFormat } from '../../core/records/records.ts';
import { type NameRegistry, nameArchivedRaw } from '../../core/structuring/names/names.ts';
import { type Naming, namingOf } from '../../core/structuring/names/naming.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { IngestJob } from '../../store/pg/jobs.ts';
import { placeTable } from '../../store/pg/restore.ts';
import type { LandedTable, SourceRecord } from '../../store/pg/sources.ts';
import { VersionMoved } from '../../store/pg/tableEdits.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { tagRevised } from '../governance/tagLanded.ts';
import { prepareCarry } from './carryEdits.ts';
import { abandonIfGone, endIngest } from './endIngest.ts';
import { type CarriedEdits, landNew, type RawDraft, relandTable, type WrittenTable } from './landTables.ts';
import { isEdited, listMadeTables } from './listMadeTables.ts';
import { archiveTable, type CarriedByTable, endStructured, landAll, lockAll } from './promoteTables.ts';
import type { StructuredDraft } from './structure.ts';
import { openTableNames } from './tableNames.ts';

interface Revision {
  raw: RawDraft;
  structured: StructuredDraft | null;
}

/** Plans what people did to the tables on top of the new content. Archived tables take no edits: those stay in their history. */
export async function prepareRevision(services: Services, job: IngestJob, revision: Revision): Promise<CarriedByTable> {
  const { raw, structured } = revision;
  const carried = new Map<string, CarriedEdits>();
  const written = new Map([...raw.tables, ...(structured?.tables ?? [])].map((table) => [table.tableId, table]));
  for (const landed of (await listMadeTables(services.db.orm, job.input.sourceId)).filter(isCarried)) {
    const table = written.get(landed.table.id);
    // Rows of a sheet stay in its order, so what was added to its raw copy comes last.
    const keepsIds = landed.landing.role !== 'raw' || isRecordFormat(job.input.revise?.format ?? '');
    const codeRef = `${job.input.sourceId}@${job.input.revision}`;
    const edits = table && !table.isSame && (await prepareCarry(services, landed, table, { keepsIds, codeRef }));
    if (edits) carried.set(landed.table.id, edits);
  }
  return carried;
}

const isCarried = (landed: LandedTable) => isEdited(landed) && landed.table.state === 'active';

/**
 * New bytes for a source: makes the next version of its tables, adds new ones, and archives those that the new bytes do not
 * fill.
 */
export async function promoteRevision(tx: Tx, job: IngestJob, { raw, structured }: Revision, carried: CarriedByTable): Promise<void> {
  const source = await lockAll(tx, job);
  if (await abandonIfGone(tx, job, source)) return;
  const landed = await listMadeTables(tx.orm, source.id);
  const current = await listTablesById(
    tx.client,
    landed.map(({ table }) => table.id),
  );
  const before = new Map(current.map((at) => [at.table.id, at]));
  const written = [...raw.tables, ...(structured?.tables ?? [])];
  const made = new Set(written.map((table) => table.tableId));
  const same = new Set(written.flatMap((table) => (table.isSame ? [table.tableId] : [])));
  const hasMoved = ({ table }: LandedTable) => carried.get(table.id)?.editVersion !== table.editVersion;
  const isMerged = ({ table }: LandedTable) => made.has(table.id) && !same.has(table.id);
  if (landed.some((each) => isMerged(each) && isCarried(each) && hasMoved(each))) throw new VersionMoved();
  for (const { table } of landed) if (!made.has(table.id) && table.state === 'active') await archiveTable(tx, source, table, table.name);
  const names = await openTableNames(tx, source.workbookId);
  const structuredBefore = landed.flatMap(({ landing }) => (landing.role === 'raw' ? [] : [landing.sheet]));
  const sheets = {
    before: new Set(structuredBefore),
    now: new Set(structured?.understood),
    tables: before,
    naming: namingOf(structured?.spec),
    carried,
  };
  await relandRaw(tx, job, source, raw.tables, sheets, names);
  const rawBySheet = new Map(raw.tables.map((table) => [table.sheet, table.tableId]));
  await landAll(tx, job, source, structured?.tables ?? [], names, rawBySheet, before, carried);
  await tagRevised(tx, source, { raw: raw.tables, structured: structured?.tables ?? [] }, before);
  const { revision, revise: bytes } = job.input;
  const fields = { ...bytes, revision, extents: raw.extents };
  if (structured) await endStructured(tx, job, source, structured, fields, same);
  else await endIngest(tx, job, source, { structuring: 'skipped', fields });
}

/**
 * The raw tables of a revision. One is archived when its sheet is structured for the first time, and made active again when its
 * sheet is no longer understood; otherwise its state stays.
 */
async function relandRaw(tx: Tx, job: IngestJob, source: SourceRecord, tables: WrittenTable[], sheets: Sheets, names: NameRegistry) {
  const { revision } = job.input;
  for (const [position, table] of tables.entries()) {
    const landing = { source, revision, table, position };
    const at = sheets.tables.get(table.tableId);
    const isUnderstood = sheets.now.has(table.sheet);
    if (at) {
      const reland = (name: string) => relandTable(tx, { ...landing, name }, at, sheets.carried.get(table.tableId) ?? null);
      const swap = () => swapRaw(tx, source, table, at, isUnderstood, names, sheets.naming);
      if (isUnderstood === sheets.before.has(table.sheet)) await reland(at.table.name);
      else if (isUnderstood) {
        // Archived last, because archived tables take no edits.
        await reland(at.table.name);
        await swap();
      } else await reland(await swap());
      continue;
    }
    const name = names.claim(table.name, table.sheet);
    await landNew(tx, [{ ...landing, name }]);
    if (!isUnderstood) continue;
    names.free(name);
    await placeTable(tx, table.tableId, { name: nameArchivedRaw(name, sheets.naming), state: 'archived', description: null });
  }
}

async function swapRaw(
  tx: Tx,
  source: SourceRecord,
  written: WrittenTable,
  { table }: TableAt,
  isUnderstood: boolean,
  names: NameRegistry,
  naming: Naming,
) {
  if (isUnderstood && table.state === 'archived') return table.name;
  if (isUnderstood) {
    names.free(table.name);
    const name = nameArchivedRaw(table.name, naming);
    await archiveTable(tx, source, table, name);
    return name;
  }
  const name = table.state === 'active' ? table.name : names.claim(written.name, written.sheet);
  await placeTable(tx, table.id, { name, state: 'active', description: table.description });
  return name;
}

/** The sheets that were structured before and are now, the existing tables by id, and how archived ones are named. */
interface Sheets {
  before: Set<string>;
  now: Set<string>;
  tables: Map<string, TableAt>;
  naming: Naming;
  carried: CarriedByTable;
}
