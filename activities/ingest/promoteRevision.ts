import { type NameRegistry, nameArchivedRaw } from '../../core/structuring/names.ts';
import { type Naming, namingOf } from '../../core/structuring/naming.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { placeTable } from '../../store/pg/restore.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { abandonIfGone, endIngest } from './endIngest.ts';
import { landTable, type RawDraft, relandTable, type WrittenTable } from './landTables.ts';
import { listMadeTables, refuseEdited } from './listMadeTables.ts';
import { archiveTable, endStructured, landAll, lockAll } from './promoteTables.ts';
import type { StructuredDraft } from './structure.ts';
import { openTableNames } from './tableNames.ts';

/**
 * New bytes for a source: makes the next version of its tables, adds new ones, and archives those that the new bytes do not
 * fill.
 */
export async function promoteRevision(
  tx: Tx,
  job: JobRecord<'ingest'>,
  raw: RawDraft | null,
  structured: StructuredDraft | null,
): Promise<void> {
  if (!raw) throw new Error(`job ${job.id} has nothing to promote`);
  const source = await lockAll(tx, job);
  if (await abandonIfGone(tx, job, source)) return;
  const landed = await listMadeTables(tx, source.id);
  refuseEdited(landed);
  const current = await listTablesById(
    tx.client,
    landed.map(({ table }) => table.id),
  );
  const before = new Map(current.map((at) => [at.table.id, at]));
  const made = new Set([...raw.tables, ...(structured?.tables ?? [])].map((table) => table.tableId));
  for (const { table } of landed) if (!made.has(table.id) && table.state === 'active') await archiveTable(tx, source, table, table.name);
  const names = await openTableNames(tx, source.workbookId);
  const structuredBefore = landed.flatMap(({ landing }) => (landing.role === 'raw' ? [] : [landing.sheet]));
  const sheets = {
    before: new Set(structuredBefore),
    now: new Set(structured?.understood),
    tables: before,
    naming: namingOf(structured?.spec),
  };
  await relandRaw(tx, job, source, raw.tables, sheets, names);
  const rawBySheet = new Map(raw.tables.map((table) => [table.sheet, table.tableId]));
  await landAll(tx, job, source, structured?.tables ?? [], names, rawBySheet, before);
  const { revision, revise: bytes } = job.input;
  const fields = { ...bytes, revision, extents: raw.extents };
  if (structured) await endStructured(tx, job, source, structured, fields);
  else await endIngest(tx, job, source, { structuring: 'skipped', fields });
}

/**
 * The raw tables of a revision. One is archived when its sheet is structured for the first time, and made active again when its
 * sheet is no longer understood; otherwise its state stays.
 */
async function relandRaw(
  tx: Tx,
  job: JobRecord<'ingest'>,
  source: SourceRecord,
  tables: WrittenTable[],
  sheets: Sheets,
  names: NameRegistry,
) {
  const { revision } = job.input;
  for (const [position, table] of tables.entries()) {
    const landing = { source, revision, table, position };
    const at = sheets.tables.get(table.tableId);
    const isUnderstood = sheets.now.has(table.sheet);
    if (at) {
      const name =
        isUnderstood === sheets.before.has(table.sheet)
          ? at.table.name
          : await swapRaw(tx, source, table, at, isUnderstood, names, sheets.naming);
      await relandTable(tx, { ...landing, name }, at);
      continue;
    }
    const name = names.claim(table.name, table.sheet);
    await landTable(tx, { ...landing, name });
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
}
