import { DomainError } from '../../core/errors.ts';
import type { Grid } from '../../core/grid/grid.ts';
import { isFinal } from '../../core/jobs/endings.ts';
import {
  analyze,
  type BuildResult,
  build,
  chooseLanguage,
  listTexts,
  type NamingLanguage,
  type OutputTable,
  type ParseSpec,
} from '../../core/structuring/index.ts';
import { baseOfFile } from '../../core/structuring/names.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import {
  findDraft,
  findSourceById,
  findStructuring,
  type LandedTable,
  listLanded,
  type SourceRecord,
  saveDraft,
} from '../../store/pg/sources.ts';
import { listTablesById, reserveRows } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { reportProgress } from '../jobs/reportProgress.ts';
import { fallBack } from './endIngest.ts';
import { findNaming } from './findNaming.ts';
import type { WrittenTable } from './landTables.ts';
import { matchColumns } from './matchColumns.ts';
import { fileOfIngest, readGrids } from './readSourceFile.ts';
import { withMemorySlot } from './withMemorySlot.ts';
import { type TableTarget, writeTables } from './writeTables.ts';

/** Structured tables: written, but not yet part of the workbook. */
export interface StructuredDraft {
  tables: WrittenTable[];
  spec: ParseSpec;
  /** Sheets whose raw tables are replaced by structured ones; the others stay raw. */
  understood: string[];
}

/** Second half of an ingest: writes the tables of each sheet, to be promoted next. */
export async function structure(services: Services, jobId: string, activity: ActivityContext): Promise<'promote' | 'over'> {
  const job = await openJob(services, jobId, 'ingest');
  if (!job) return 'over';
  if (job.input.structuring === 'skip' || (await findDraft(services.db.orm, jobId, 'tables'))) return 'promote';
  try {
    const draft = await withMemorySlot(activity, () => structureFile(services, job, activity));
    await saveDraft(services.db.orm, jobId, 'tables', draft);
    return 'promote';
  } catch (error) {
    if (!isFinal(error)) throw error;
    await commitForJob(services, job, (tx, current) => fallBack(tx, current, `failed:${error.detail}`));
    return 'over';
  }
}

async function structureFile(services: Services, job: JobRecord<'ingest'>, activity: ActivityContext): Promise<StructuredDraft> {
  const source = (await findSourceById(services.db.orm, job.input.sourceId)) as SourceRecord;
  const file = fileOfIngest(source, job.input);
  const { grids, reader } = await readGrids(services, { ...file, accountId: source.accountId }, { signal: activity.signal });
  const known = await findStructuring(services.db.orm, source.accountId, file.sha256);
  const naming = await chooseNaming(services, source, grids);
  const isKnown =
    known?.state === 'ready' &&
    known.spec !== null &&
    (known.spec.naming ?? 'ja') === naming &&
    baseOfFile(known.filename) === baseOfFile(source.name);
  const spec = isKnown ? (known.spec as ParseSpec) : { ...analyze(grids, source.name, naming), reader };
  const result = build(grids, spec, source.name);
  const understood = listUnderstood(result);
  const made = result.tables.filter((table) => understood.has(table.sheet));
  const places = await placeTables(services, job, source, made);
  const progress = reportProgress(services, job.id, 'structure');
  const tables = await writeTables(services, grids, made, places, { step: progress.step, signal: activity.signal });
  await progress.settle();
  return { tables, spec, understood: [...understood] };
}

/** A source keeps the language in which its tables were named first, so that a revision finds them again. */
async function chooseNaming(services: Services, source: SourceRecord, grids: Grid[]): Promise<NamingLanguage> {
  if (source.spec) return source.spec.naming ?? 'ja';
  return chooseLanguage(await findNaming(services.db.orm, source.workbookId), [source.name], ...listTexts(grids));
}

/** Sheets that were structured with no cell lost or used twice. The others stay raw; if there are none, structuring has failed. */
function listUnderstood(result: BuildResult): Set<string> {
  const raw = new Set(result.rawSheets.map(({ sheet }) => sheet));
  const understood = new Set(result.tables.flatMap(({ sheet }) => (raw.has(sheet) ? [] : [sheet])));
  for (const { sheet, lost, twice } of result.conservation) if (lost.length + twice.length > 0) understood.delete(sheet);
  if (understood.size > 0) return understood;
  throw new DomainError(
    'validation-failed',
    result.rawSheets[0]?.reason ?? 'no table was found',
    'Use the raw tables, or the staged mode.',
  );
}

/** New tables get new ids; tables that a revision makes again keep their ids and those of their columns. */
async function placeTables(
  services: Services,
  job: JobRecord<'ingest'>,
  source: SourceRecord,
  made: OutputTable[],
): Promise<TableTarget[]> {
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
      rowBase: twin ? (await reserveRows(services.db.pool, tableId, Math.max(1, table.rows.length))) - 1 : 0,
      columnIds: twin ? matchColumns(twin, table.columns) : table.columns.map((_, i) => i + 1),
    });
  }
  return places;
}

/** Finds the existing table by name or, as titles change from file to file, the only one of its kind on the sheet. */
function matchTables(landed: LandedTable[], made: OutputTable[]): Map<OutputTable, string> {
  const twins = new Map<OutputTable, string>();
  const left = new Set(landed);
  const isAlike = ({ landing }: LandedTable, table: OutputTable) => landing.role === table.role && landing.sheet === table.sheet;
  const match = (table: OutputTable, twin: LandedTable | undefined) => {
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
