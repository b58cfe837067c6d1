import { isFinal } from '../../core/jobs/endings.ts';
import type { ParseSpec } from '../../core/structuring/index.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import type { IngestJob } from '../../store/pg/jobs.ts';
import { findDraft, findSourceById, type LandedTable, listLanded, type SourceRecord, saveDraft } from '../../store/pg/sources.ts';
import { listTablesById, reserveRows } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { reportProgress } from '../jobs/reportProgress.ts';
import { type ChosenIds, chooseRowIds } from './chooseRowIds.ts';
import { fallBack } from './endIngest.ts';
import type { MadeTable } from './fileProgram/requests.ts';
import { keepTables } from './keepTables.ts';
import type { LandedFile } from './landRaw.ts';
import type { WrittenTable } from './landTables.ts';
import { listMadeTables, nameAsLanded } from './listMadeTables.ts';
import { matchColumns } from './matchColumns.ts';
import { fileOfIngest } from './readSourceFile.ts';
import { findWantedStructure } from './wantedStructure.ts';
import { workOnFile } from './workOnFile.ts';
import type { TableTarget } from './writeTables.ts';

/** Structured tables: written, but not yet part of the workbook. */
export interface StructuredDraft {
  tables: WrittenTable[];
  spec: ParseSpec;
  /** Sheets whose raw tables are replaced by structured ones; the others stay raw. */
  understood: string[];
}

/** Second half of an ingest: writes the tables of each sheet, to be promoted next. */
export async function structure(services: Services, jobId: string, activity: ActivityContext): Promise<'promote' | 'over'> {
  const job = await openJob(services, jobId, 'ingest', 'file_link');
  if (!job) return 'over';
  const source = (await findSourceById(services.db.orm, job.input.sourceId)) as SourceRecord;
  return structureLanded(services, { job, source }, activity);
}

/** The same, following the first half at once. */
export async function structureLanded(
  services: Services,
  { job, source }: LandedFile,
  activity: ActivityContext,
): Promise<'promote' | 'over'> {
  if (job.input.structuring === 'skip' || (await findDraft(services.db.orm, job.id, 'tables'))) return 'promote';
  try {
    const draft = await structureFile(services, job, source, activity);
    await saveDraft(services.db.orm, job.id, 'tables', draft);
    return 'promote';
  } catch (error) {
    if (!isFinal(error)) throw error;
    await commitForJob(services, job, (tx, current) => fallBack(tx, current, `failed:${error.detail}`));
    return 'over';
  }
}

async function structureFile(
  services: Services,
  job: IngestJob,
  source: SourceRecord,
  activity: ActivityContext,
): Promise<StructuredDraft> {
  const file = fileOfIngest(source, job.input);
  const wanted = await findWantedStructure(services, source, file);
  // The process that wrote the raw tables has the file in memory, and its structure, if it is of this worker.
  return workOnFile(services, job.userId, file, { ...activity, resume: job.id }, async (open) => {
    const { spec, understood, tables } = await open.ask('structure', { input: open.input, wanted });
    const places = await placeTables(services, job, source, tables);
    const progress = reportProgress(services, job.id, 'structure');
    const first = await keepTables(open, tables, places, progress.step);
    const chosen = job.input.revise ? await chooseIds(services, source, first) : [];
    const isFound = chosen.some(Boolean);
    const numbered = places.map((place, i) => ({ ...place, ...(chosen[i] ? { rowIds: chosen[i].rowIds } : {}) }));
    const written = isFound ? await keepTables(open, tables, numbered, progress.step) : first;
    if (isFound) await dropFiles(services, first.flatMap(listFiles));
    const same = written.filter((_, i) => chosen[i]?.isSame);
    await dropFiles(services, same.flatMap(listSegments));
    for (const table of same) Object.assign(table, { layers: [], isSame: true });
    await progress.settle();
    return { tables: written, spec, understood };
  });
}

/**
 * Rows of a revision that are found again keep their ids. Which those are is known once the tables are written, so they are
 * written once more. Null for a table whose rows are all new.
 */
async function chooseIds(services: Services, source: SourceRecord, written: WrittenTable[]): Promise<(ChosenIds | null)[]> {
  const landed = new Map((await listMadeTables(services.db.orm, source.id)).map(({ landing }) => [landing.tableId, landing.editVersion]));
  const chosen: (ChosenIds | null)[] = [];
  for (const table of written) {
    const version = landed.get(table.tableId);
    chosen.push(version === undefined ? null : await chooseRowIds(services, version, table));
  }
  return chosen;
}

const listSegments = ({ layers }: WrittenTable) => layers.flatMap((layer) => (layer.kind === 'log' ? [] : [layer.key]));

const listFiles = (table: WrittenTable) => [...listSegments(table), ...[table.provenanceKey, table.kept?.key].flatMap((key) => key ?? [])];

/** What cannot be removed now is collected later. */
async function dropFiles({ blobs }: Services, keys: string[]): Promise<void> {
  for (const key of keys) await blobs.remove(key).catch(() => {});
}

/** New tables get new ids; tables that a revision makes again keep their ids and those of their columns. */
async function placeTables(services: Services, job: IngestJob, source: SourceRecord, made: MadeTable[]): Promise<TableTarget[]> {
  const landed = job.input.revise ? await listLanded(services.db.orm, [source.id]) : [];
  const ids = landed.map(({ table }) => table.id);
  const before = new Map((await listTablesById(services.db.pool, ids)).map((at) => [at.table.id, at]));
  const twins = matchTables(landed, made);
  const places: TableTarget[] = [];
  for (const table of made) {
    const twin = before.get(twins.get(table) ?? '');
    const tableId = twin?.table.id ?? makeId('tbl');
    places.push({
      tableId,
      prefix: tablePrefix({ ...source, id: tableId }),
      rowBase: twin ? (await reserveRows(services.db.pool, tableId, Math.max(1, table.rowCount))) - 1 : 0,
      columnIds: twin ? matchColumns(await nameAsLanded(services.db.orm, twin, landed), table.columns) : table.columns.map((_, i) => i + 1),
    });
  }
  return places;
}

/** Finds the existing table by name or, as titles change from file to file, the only one of its kind on the sheet. */
function matchTables(landed: LandedTable[], made: MadeTable[]): Map<MadeTable, string> {
  const twins = new Map<MadeTable, string>();
  const left = new Set(landed);
  const isAlike = ({ landing }: LandedTable, table: MadeTable) => landing.role === table.role && landing.sheet === table.sheet;
  const match = (table: MadeTable, twin: LandedTable | undefined) => {
    if (twin && left.delete(twin)) twins.set(table, twin.table.id);
  };
  for (const table of made)
    match(
      table,
      [...left].find((each) => isAlike(each, table) && each.landing.builtName === table.name),
    );
  const open = made.filter((table) => !twins.has(table));
  for (const table of open) {
    const alike = [...left].filter((each) => isAlike(each, table));
    const rivals = open.filter((other) => other.role === table.role && other.sheet === table.sheet);
    if (alike.length === 1 && rivals.length === 1) match(table, alike[0]);
  }
  return twins;
}
