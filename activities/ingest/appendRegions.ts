import { asSentence, DomainError } from '../../core/errors.ts';
import type { Grid } from '../../core/grid/grid.ts';
import type { AppendTarget, MaterializeResult } from '../../core/jobs/sourceJobs.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import { listCells, type OutputTable } from '../../core/structuring/index.ts';
import { numberRows } from '../../core/table/edit.ts';
import type { TableAt } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type JobRecord, updateJobInTx } from '../../store/pg/jobs.ts';
import { insertLandings, lockSource, type SourceRecord } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { commitForJob } from '../jobs/commitForJob.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { prepareUpsert } from '../rows/upsertRows.ts';
import { applyEdit, retryOnMove } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { buildRegions } from './buildRegions.ts';
import { endMaterialize } from './endMaterialize.ts';
import { withMemorySlot } from './withMemorySlot.ts';
import { writeProvenance } from './writeTables.ts';

/** Appends the rows of the chosen regions to an existing table, as an upsert by who asked for it. */
export async function appendRegions(
  services: Services,
  job: JobRecord<'materialize'>,
  source: SourceRecord,
  { table: name, expectedVersion, mapping }: AppendTarget,
  activity: ActivityContext,
): Promise<void> {
  const { grids, tables: built } = await withMemorySlot(activity, () => buildRegions(services, source, job.input.regions, activity));
  // Totals beside a table are not rows of it.
  const tables = built.filter(({ role }) => role === 'data' || role === 'level');
  const rows = tables.flatMap((table) => listRows(table, mapping));
  await retryOnMove(async () => {
    const principal = await requireAsker(services, job, 'editor');
    const { columns } = await openVisibleColumns(services, principal, await requireTable(services, source.workbookId, name));
    checkMapping(tables, mapping, new Set(columns.map((column) => column.name)));
    const edit = await prepareUpsert(
      services,
      principal,
      { workbookId: source.workbookId, name, expectedVersion, rebase: false },
      rows,
    ).catch((error: unknown) => {
      throw explainRows(error, grids, tables, mapping);
    });
    const provenanceKeys = await Promise.all(tables.map((table) => traceAppended(services, edit.at, grids, table, mapping)));
    const append = async (tx: Tx, current: JobRecord<'materialize'>): Promise<MaterializeResult> => {
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
      await endMaterialize(tx, current, now, result);
      return result;
    };
    await commitForJob(services, job, append, (tx, result, numbers) =>
      updateJobInTx(tx, job.id, { result: { ...result, opId: numbers.get(source.workbookId)?.firstOp ?? null } }),
    );
  });
}

/** Columns without a mapping keep their name. */
function mapNames(table: OutputTable, mapping: Record<string, string>): string[] {
  return table.columns.map(({ name }) => (Object.hasOwn(mapping, name) ? (mapping[name] as string) : name));
}

/** Every column of the regions needs a column of the table, and no two the same. */
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

/** Records which cells the appended rows came from. */
async function traceAppended(
  services: Services,
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

/** Rows under the column names of the target table. */
function listRows(table: OutputTable, mapping: Record<string, string>): Record<string, unknown>[] {
  const names = mapNames(table, mapping);
  return table.rows.map((row) => Object.fromEntries(names.map((name, k) => [name, row[k] ?? null])));
}

/** Names a value that does not fit by its cell in the sheet, where the sender can find it. */
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
      'validation-failed',
      asSentence(`The value at ${table.sheet} ${cells} does not fit column ${name}: ${first?.detail}`),
      'Map it to another column, or correct the cell in the file.',
      { errors: [{ pointer: `/column_mapping/${column}`, detail: `${table.sheet} ${cells}: ${first?.detail}` }] },
    );
  }
  return error;
}
