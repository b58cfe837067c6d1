import { asSentence, DomainError } from '../../core/errors.ts';
import type { AppendTarget, MaterializeResult } from '../../core/jobs/sourceJobs.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import { countAdded } from '../../core/storage/use.ts';
import type { ParseSpec } from '../../core/structuring/index.ts';
import { numberRows } from '../../core/table/edit.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { StoredValue } from '../../core/types/index.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type JobRecord, updateJobInTx } from '../../store/pg/jobs.ts';
import { insertLandings, lockSource, type SourceRecord } from '../../store/pg/sources.ts';
import { holdTagsNow } from '../../store/pg/tagFlows.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { refuseTagged } from '../governance/tagLanded.ts';
import { commitForJob } from '../jobs/commitForJob.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { prepareUpsert } from '../rows/upsertRows.ts';
import { withRoom } from '../storage/withRoom.ts';
import { applyEdit, retryOnMove } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { endMaterialize } from './endMaterialize.ts';
import type { MadeTable } from './fileProgram/requests.ts';
import { listMadeTables } from './listMadeTables.ts';
import { readRows } from './readRows.ts';
import { type OpenFile, workOnFile } from './workOnFile.ts';

/** A table that the process has made, with its place among them and the rows to append. */
interface ChosenTable extends MadeTable {
  index: number;
  rows: StoredValue[][];
}

/** Appends the rows of the chosen regions to an existing table, as an upsert by who asked for it. */
export async function appendRegions(
  services: Services,
  job: JobRecord<'materialize'>,
  source: SourceRecord,
  target: AppendTarget,
  activity: ActivityContext,
): Promise<void> {
  await workOnFile(services, job.userId, source, activity, async (file) => {
    const spec = source.spec as ParseSpec;
    const { tables: built } = await file.ask('buildRegions', {
      input: file.input,
      sourceName: source.name,
      spec,
      regions: job.input.regions,
    });
    // Totals beside a table are not rows of it.
    const chosen = built.map((table, index) => ({ ...table, index })).filter(({ role }) => role === 'data' || role === 'level');
    const rows = await readRows(file, chosen);
    const tables = chosen.map((table, i) => ({ ...table, rows: rows[i] ?? [] }));
    await appendTables(services, job, source, target, file, tables);
  });
}

async function appendTables(
  services: Services,
  job: JobRecord<'materialize'>,
  source: SourceRecord,
  { table: name, expectedVersion, mapping }: AppendTarget,
  file: OpenFile,
  tables: ChosenTable[],
): Promise<void> {
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
    ).catch(async (error: unknown) => {
      throw await explainRows(error, file, tables, mapping);
    });
    const provenanceKeys: (string | null)[] = [];
    for (const table of tables) provenanceKeys.push(await traceAppended(file, edit.at, table, mapping));
    const append = async (tx: Tx, current: JobRecord<'materialize'>): Promise<MaterializeResult> => {
      await holdTagsNow(tx, source.workbookId);
      const now = (await lockSource(tx, source.id)) as SourceRecord;
      const made = await listMadeTables(tx.orm, source.id);
      await refuseTagged(
        tx,
        made.map(({ table }) => table.id),
      );
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
    await withRoom(services, source.accountId, countAdded(edit.plan), () =>
      commitForJob(services, job, append, (tx, result, numbers) =>
        updateJobInTx(tx, job.id, { result: { ...result, opId: numbers.get(source.workbookId)?.firstOp ?? null } }),
      ),
    );
  });
}

/** Columns without a mapping keep their name. */
function mapNames(table: MadeTable, mapping: Record<string, string>): string[] {
  return table.columns.map(({ name }) => (Object.hasOwn(mapping, name) ? (mapping[name] as string) : name));
}

/** Every column of the regions needs a column of the table, and no two the same. */
function checkMapping(tables: MadeTable[], mapping: Record<string, string>, known: Set<string>): void {
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
async function traceAppended(file: OpenFile, at: TableAt, table: ChosenTable, mapping: Record<string, string>): Promise<string | null> {
  const columnIds = mapNames(table, mapping).map((name) => at.columns.find((column) => column.name === name)?.id ?? 0);
  const prefix = tablePrefix(at.table);
  const place = { tableId: at.table.id, prefix, rowBase: 0, columnIds };
  const written = await file.ask('writeProvenance', { table: table.index, place });
  return written && (await file.keep(prefix, written)).key;
}

/** Rows under the column names of the target table. */
function listRows(table: ChosenTable, mapping: Record<string, string>): Record<string, unknown>[] {
  const names = mapNames(table, mapping);
  return table.rows.map((row) => Object.fromEntries(names.map((name, k) => [name, row[k] ?? null])));
}

/** Names a value that does not fit by its cell in the sheet, where the sender can find it. */
async function explainRows(error: unknown, file: OpenFile, tables: ChosenTable[], mapping: Record<string, string>): Promise<unknown> {
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
    const name = column.replaceAll('~1', '/').replaceAll('~0', '~');
    const place = { table: table.index, row: n, column: mapNames(table, mapping).indexOf(name) };
    const cells = (await file.ask('listCells', place)).join(', ');
    return new DomainError(
      'validation-failed',
      asSentence(`The value at ${table.sheet} ${cells} does not fit column ${name}: ${first?.detail}`),
      'Map it to another column, or correct the cell in the file.',
      { errors: [{ pointer: `/column_mapping/${column}`, detail: `${table.sheet} ${cells}: ${first?.detail}` }] },
    );
  }
  return error;
}
