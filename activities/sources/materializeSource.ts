import type { Principal } from '../../core/access/principal.ts';
import { asSentence, DomainError, describeFirst } from '../../core/errors.ts';
import type { Grid } from '../../core/grid/grid.ts';
import { sourceMaterialized } from '../../core/journal/sourceNotes.ts';
import {
  buildSelected,
  describeMisfit,
  listCells,
  type OutputTable,
  type ParseSpec,
  toContract,
  validateChoice,
} from '../../core/structuring/index.ts';
import { numberRows } from '../../core/table/newRows.ts';
import type { TableAt } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type JobRecord, moveJob, updateJob } from '../../store/pg/jobs.ts';
import {
  findDraft,
  findSourceById,
  insertLandings,
  lockSource,
  type SourceRecord,
  saveDraft,
  updateSource,
} from '../../store/pg/sources.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { Pulse } from '../compaction/compactTable.ts';
import { heavyWork } from '../ingest/heavyWork.ts';
import { landTable, type WrittenTable } from '../ingest/landTables.ts';
import { openNames, retryOnNames } from '../ingest/names.ts';
import { beginSourceJob } from '../ingest/registerSource.ts';
import { type Reader, readGrids } from '../ingest/sourceFile.ts';
import { writeProvenance, writeTables } from '../ingest/writeTables.ts';
import { asProblem, commitForJob, isFinal, openJob, reporter, succeed } from '../jobs/runJob.ts';
import { prepareUpsert, visibleColumns } from '../rows/upsertRows.ts';
import { applyEdit, retryOnMove } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { requireIdle } from './analyzeSource.ts';
import { failJob } from './failSourceJob.ts';

export interface MaterializeInput {
  sourceId: string;
  statusBefore: SourceRecord['status'];
  regions: string[] | null;
  append: { table: string; expectedVersion: number | null; mapping: Record<string, string>; principal: Principal } | null;
}

export interface MaterializeResult {
  sourceId: string;
  tableIds: string[];
  /** With `append`. */
  editVersion: number | null;
  opId: number | null;
  stale: string[];
}

/** Inside the transaction: the spec must be there, and the chosen regions in it. */
export async function beginMaterialize(tx: Tx, sourceId: string, wanted: Pick<MaterializeInput, 'regions' | 'append'>): Promise<JobRecord> {
  const source = await requireIdle(tx, sourceId);
  if (!source.spec)
    throw new DomainError('in-use', 'The source is not analyzed yet.', 'Analyze it first with POST …/sources/{source_name}/analyze.');
  const errors = validateChoice(toContract(source.spec), wanted.regions ?? [], '/regions').map(({ pointer, message }) => ({
    pointer,
    detail: message,
  }));
  if (errors.length === 0 && wanted.regions === null && !source.spec.regions.some((region) => region.selected))
    errors.push({ pointer: '/regions', detail: 'no region of the spec is selected' });
  if (errors.length > 0)
    throw new DomainError('validation-failed', describeFirst(errors), 'GET …/parse-spec lists the regions.', {
      errors,
    });
  const input: MaterializeInput = { sourceId, statusBefore: source.status, ...wanted };
  const job = await beginSourceJob(tx, 'materialize', source, input);
  await updateSource(tx, sourceId, { status: 'ingesting', jobId: job.id });
  return job;
}

export async function materializeSource(services: Services, jobId: string, pulse: Pulse): Promise<void> {
  const job = await openJob(services, jobId);
  if (!job) return;
  await updateJob(services.db.orm, jobId, { status: 'running', stage: 'read' });
  const input = job.input as unknown as MaterializeInput;
  try {
    const source = (await findSourceById(services.db.orm, input.sourceId)) as SourceRecord;
    if (input.append) await appendRegions(services, job, source, input, pulse);
    else await makeTables(services, job, source, input, pulse);
  } catch (error) {
    if (!(error instanceof DomainError && isFinal(error))) throw error;
    await failJob(services, job, asProblem(error));
  }
}

/** The chosen regions, built. A value that its column's wanted type cannot hold is refused, with its cell. */
async function buildRegions(
  services: Services,
  source: SourceRecord,
  input: MaterializeInput,
  pulse: Pulse,
): Promise<{ grids: Grid[]; tables: OutputTable[] }> {
  const spec = source.spec as ParseSpec;
  const { grids } = await readGrids(services, source, { reader: spec.reader as Reader, signal: pulse.signal });
  const { tables, misfits } = buildSelected(grids, spec, input.regions);
  const problems = misfits.map((misfit) => describeMisfit(toContract(spec), misfit));
  if (problems.length === 0) return { grids, tables };
  throw new DomainError(
    'uncastable-value',
    asSentence(problems[0]?.message ?? ''),
    'Correct the type in the parse spec, or the cell in the file.',
    {
      errors: problems.map(({ pointer, message }) => ({ pointer, detail: message })),
    },
  );
}

async function makeTables(services: Services, job: JobRecord, source: SourceRecord, input: MaterializeInput, pulse: Pulse): Promise<void> {
  const draft =
    (await findDraft<WrittenTable[]>(services.db.orm, job.id, 'tables')) ??
    (await heavyWork(pulse, async () => {
      const { grids, tables } = await buildRegions(services, source, input, pulse);
      const places = tables.map((table) => {
        const tableId = makeId('tbl');
        const prefix = tablePrefix({ ...source, id: tableId });
        return { tableId, prefix, rowBase: 0, columnIds: table.columns.map((_, i) => i + 1) };
      });
      return writeTables(services, grids, tables, places, { step: reporter(services, job.id, 'write'), signal: pulse.signal });
    }));
  await saveDraft(services.db.orm, job.id, 'tables', draft);
  await retryOnNames(() =>
    commitForJob(services, job, async (tx, current) => {
      const now = (await lockSource(tx, source.id)) as SourceRecord;
      const names = await openNames(tx, source.workbookId);
      for (const [index, table] of draft.entries())
        await landTable(tx, {
          source: now,
          revision: now.revision,
          table,
          name: names.claim(table.name, table.sheet),
          position: 10_000 + index,
        });
      const tableIds = draft.map(({ tableId }) => tableId);
      await end(tx, current, now, { sourceId: source.id, tableIds, editVersion: null, opId: null, stale: [] });
    }),
  );
}

async function end(tx: Tx, job: JobRecord, source: SourceRecord, result: MaterializeResult): Promise<void> {
  await updateSource(tx, source.id, {
    status: 'materialized',
    structuring: source.mode === 'staged' ? 'off' : source.structuring,
    jobId: null,
  });
  tx.note(source.workbookId, sourceMaterialized(source, result.tableIds.length));
  await succeed(tx, job, result, false);
}

async function appendRegions(
  services: Services,
  job: JobRecord,
  source: SourceRecord,
  input: MaterializeInput,
  pulse: Pulse,
): Promise<void> {
  const { table: name, expectedVersion, mapping, principal } = input.append as NonNullable<MaterializeInput['append']>;
  const { grids, tables: built } = await heavyWork(pulse, () => buildRegions(services, source, input, pulse));
  // Totals beside a table are not rows of it.
  const tables = built.filter(({ role }) => role === 'data' || role === 'level');
  const rows = tables.flatMap((table) => listRows(table, mapping));
  await retryOnMove(async () => {
    const { visible } = await visibleColumns(services, principal, await requireTable(services, source.workbookId, name));
    checkMapping(tables, mapping, new Set(visible.map((column) => column.name)));
    const edit = await prepareUpsert(
      services,
      principal,
      { workbookId: source.workbookId, name, expectedVersion, rebase: false },
      rows,
    ).catch((error: unknown) => {
      throw explainRows(error, grids, tables, mapping);
    });
    const provenanceKeys = await Promise.all(tables.map((table) => traceAppended(services, source, edit.at, grids, table, mapping)));
    const append = async (tx: Tx, current: JobRecord): Promise<MaterializeResult> => {
      const now = (await lockSource(tx, source.id)) as SourceRecord;
      const edited = await applyEdit(tx, edit.at, edit.plan);
      const ids = numberRows(edit.rowIds, edited.firstRowId);
      let from = 0;
      for (const [index, table] of tables.entries()) {
        if (table.rows.length === 0) continue;
        await insertLandings(tx, [
          {
            tableId: edit.at.table.id,
            builtName: table.name,
            editVersion: edited.editVersion,
            sourceId: source.id,
            revision: now.revision,
            role: 'appended',
            position: 10_000 + index,
            sheet: table.sheet,
            regionId: table.regionId,
            range: table.range,
            minRow: ids[from] ?? 0,
            maxRow: ids[from + table.rows.length - 1] ?? 0,
            rowBase: (ids[from] ?? 1) - 1,
            provenanceKey: provenanceKeys[index] ?? null,
            keptKey: null,
          },
        ]);
        from += table.rows.length;
      }
      const { editVersion, stale } = edited;
      const result = { sourceId: source.id, tableIds: [edit.at.table.id], editVersion, opId: null, stale };
      await end(tx, current, now, result);
      return result;
    };
    await commitForJob(services, job, append, (tx, result, numbers) =>
      moveJob(tx, job.id, { result: { ...result, opId: numbers.get(source.workbookId)?.firstOp ?? null } }),
    );
  });
}

/** A column that is mapped nowhere goes by its own name. */
function mapNames(table: OutputTable, mapping: Record<string, string>): string[] {
  return table.columns.map(({ name }) => (Object.hasOwn(mapping, name) ? (mapping[name] as string) : name));
}

/** Every column of the regions must have one of the table, and no two the same. */
function checkMapping(tables: OutputTable[], mapping: Record<string, string>, known: Set<string>): void {
  const own = new Set(tables.flatMap((table) => table.columns.map((column) => column.name)));
  const errors = Object.keys(mapping).flatMap((name) =>
    own.has(name) ? [] : [{ column: name, detail: 'no chosen region has such a column' }],
  );
  for (const table of tables) {
    const names = mapNames(table, mapping);
    names.forEach((name, k) => {
      const column = table.columns[k]?.name ?? '';
      if (!known.has(name)) errors.push({ column, detail: `the table has no column ${name}` });
      else if (names.indexOf(name) !== k) errors.push({ column, detail: `another column goes to ${name} already` });
    });
  }
  if (errors.length === 0) return;
  throw new DomainError(
    'validation-failed',
    asSentence(`Column ${errors[0]?.column}: ${errors[0]?.detail}`),
    'Name a column of the table for each in `column_mapping`.',
    {
      errors: errors.slice(0, 100).map(({ column, detail }) => ({ pointer: `/column_mapping/${escapePointer(column)}`, detail })),
    },
  );
}

const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Keeps from which cells the appended rows come. */
async function traceAppended(
  services: Services,
  source: SourceRecord,
  at: TableAt,
  grids: Grid[],
  table: OutputTable,
  mapping: Record<string, string>,
): Promise<string | null> {
  const grid = grids.find(({ sheet }) => sheet === table.sheet) as Grid;
  const columnIds = mapNames(table, mapping).map((name) => at.columns.find((column) => column.name === name)?.id ?? 0);
  const prefix = tablePrefix(at.table);
  return writeProvenance(services, grid, table, { tableId: at.table.id, prefix, rowBase: 0, columnIds });
}

/** Rows under the names of the table they go to. */
function listRows(table: OutputTable, mapping: Record<string, string>): Record<string, unknown>[] {
  const names = mapNames(table, mapping);
  return table.rows.map((row) => Object.fromEntries(names.map((name, k) => [name, row[k] ?? null])));
}

/** A value that does not fit is named by its cell in the sheet, where whoever sent the file can find it. */
function explainRows(error: unknown, grids: Grid[], tables: OutputTable[], mapping: Record<string, string>): unknown {
  if (!(error instanceof DomainError) || error.code !== 'validation-failed') return error;
  const first = error.extras.errors?.[0];
  const [, row, column] = /^\/rows\/(\d+)\/(.+)$/.exec(first?.pointer ?? '') ?? [];
  if (row === undefined || column === undefined) return error;
  let n = Number(row);
  for (const table of tables) {
    if (n >= table.rows.length) {
      n -= table.rows.length;
      continue;
    }
    const grid = grids.find(({ sheet }) => sheet === table.sheet);
    const name = column.replaceAll('~1', '/').replaceAll('~0', '~');
    const cells = grid ? listCells(grid, table, n, mapNames(table, mapping).indexOf(name)).join(', ') : '';
    return new DomainError(
      'uncastable-value',
      asSentence(`The value at ${table.sheet} ${cells} does not fit column ${name}: ${first?.detail}`),
      'Map it to another column, or correct the cell in the file.',
      { errors: [{ pointer: `/column_mapping/${column}`, detail: `${table.sheet} ${cells}: ${first?.detail}` }] },
    );
  }
  return error;
}
