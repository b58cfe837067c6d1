import { tableLanded } from '../../core/journal/sourceNotes.ts';
import type { Flows } from '../../core/lineage/flows.ts';
import { anyChange } from '../../core/lineage/staleness.ts';
import type { MergeConflict } from '../../core/merge/planMerge.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import { openLog } from '../../core/table/layers.ts';
import type { ColumnRecord, Layer, TableAt } from '../../core/table/table.ts';
import type { SheetExtent } from '../../schema/index.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { restoreTable } from '../../store/pg/restore.ts';
import { insertLandings, type LandingRecord, moveLanding, type SourceRecord } from '../../store/pg/sources.ts';
import { markStale } from '../../store/pg/tableEdits.ts';
import { insertTables, raiseCounters } from '../../store/pg/tables.ts';
import { beginEventId, makeId } from '../../store/services.ts';
import { openConflicts } from '../merge/openConflicts.ts';
import { applyEdit } from '../tables/editTable.ts';

/** A table whose files are written. Landing creates it, or makes its next version. */
export interface WrittenTable {
  tableId: string;
  name: string;
  role: LandingRecord['role'];
  sheet: string;
  regionId: string | null;
  range: string | null;
  /** With the column ids used in the files. */
  columns: { id: number; name: string; type: string }[];
  rowCount: number;
  /** Row ids are this plus the row's position, or in a raw table its row number in the sheet. */
  rowBase: number;
  maxRowId: number;
  /** Rows that the file before had keep their ids; others have new ones. */
  hasKeptIds?: true;
  /** The new file leaves the table as it is: no version is made, and there are no layers. */
  isSame?: true;
  /** Segments; the log layer is added on top. */
  layers: Layer[];
  /** Blob key of the cells each row came from, in blocks (`ProvenanceBlock`). Null for raw tables. */
  provenanceKey: string | null;
  /** Which columns were filled from which columns of the sheet, which are those of its raw table. Null: not known. */
  flows?: Flows | null;
  /** Cells whose value is not the whole content, as (row number, column_id, stored, formula); null if there are none. */
  kept: { key: string; formulas: number; values: number } | null;
}

/** The raw copy of a file, or its records: written, but not yet part of a table. */
export interface RawDraft {
  tables: WrittenTable[];
  extents: SheetExtent[];
}

/** What people did to a table, planned on top of the new content of its file. */
export interface CarriedEdits {
  /** The version whose edits they are. */
  editVersion: number;
  /** The columns of the new version. */
  columns: ColumnRecord[];
  /** On the version that lands; null: nothing is left to do. */
  edit: PreparedEdit | null;
  conflicts: MergeConflict[];
}

export interface Landing {
  source: SourceRecord;
  revision: number;
  table: WrittenTable;
  name: string;
  /** Order among the tables of the source. */
  position: number;
}

/** Runs inside the transaction: new tables at version 1, with their origin. */
export async function landNew(tx: Tx, landings: Landing[]): Promise<void> {
  const made = landings.map(({ source, table, name }) => ({
    id: table.tableId,
    workbookId: source.workbookId,
    accountId: source.accountId,
    name,
    layer: 'base' as const,
    versionUid: makeId('ver'),
    manifestId: makeId('mft'),
    columns: table.columns,
    layers: [...table.layers, { kind: 'log' as const, after: 1, upTo: null }],
    rowCount: table.rowCount,
    nextRowId: table.maxRowId + 1,
  }));
  await insertTables(tx, made);
  await writeDown(
    tx,
    landings.map((landing) => ({ ...landing, tableId: landing.table.tableId, editVersion: 1 })),
    'table.create',
  );
}

/**
 * Runs inside the transaction: the next version of a table, with new rows and perhaps new columns. What people did to the table
 * is a version of its own behind it, so that the next revision is merged with the bare content of the file, too.
 */
export async function relandTable(tx: Tx, landing: Landing, before: TableAt, carried: CarriedEdits | null): Promise<void> {
  const { table } = landing;
  const described = new Map(before.columns.map((column) => [column.name, column.description]));
  const columns: ColumnRecord[] =
    carried?.columns ?? table.columns.map((column) => ({ ...column, defaultText: null, description: described.get(column.name) ?? null }));
  const editVersion = await restoreTable(tx, {
    tableId: before.table.id,
    versionUid: makeId('ver'),
    manifestId: makeId('mft'),
    layers: [...table.layers, openLog],
    rowCount: table.rowCount,
    tailCount: 0,
    columns: columns.map(({ id, ...column }, i) => ({ ...column, columnId: id, position: i + 1 })),
  });
  const usedIds = [...table.columns, ...columns].map(({ id }) => id);
  await raiseCounters(tx, before.table.id, { columnId: Math.max(0, ...usedIds), rowId: table.maxRowId });
  await writeDown(tx, [{ ...landing, tableId: before.table.id, editVersion }], 'source.revise');
  await markStale(tx, before.table, anyChange, beginEventId());
  if (carried?.edit) await applyEdit(tx, carried.edit.at, carried.edit.plan);
  if (carried) await openConflicts(tx, before.table, carried.conflicts, { kind: 'overwrite', branchId: null, editVersion });
}

/** Runs inside the transaction: the table stays as it is, and the newest bytes of its source count as its origin. */
export async function keepLanding(tx: Tx, landing: Omit<Landing, 'name'>): Promise<void> {
  const { table, source } = landing;
  await moveLanding(tx, { tableId: table.tableId, sourceId: source.id, revision: source.revision }, describeLanding(landing));
}

type Landed = Landing & { tableId: string; editVersion: number };

async function writeDown(tx: Tx, landed: Landed[], kind: 'table.create' | 'source.revise'): Promise<void> {
  await insertLandings(
    tx,
    landed.map((each) => ({ tableId: each.tableId, editVersion: each.editVersion, ...describeLanding(each) })),
  );
  for (const { source, revision, table, name, tableId, editVersion } of landed) {
    const formulasKey = table.kept && table.kept.formulas > 0 ? table.kept.key : null;
    const what = { table: { id: tableId, name }, editVersion, revision, rows: table.rowCount, formulasKey };
    tx.note(source.workbookId, tableLanded(kind, source, what));
  }
}

function describeLanding({ source, revision, table, position }: Omit<Landing, 'name'>) {
  return {
    builtName: table.name,
    sourceId: source.id,
    revision,
    role: table.role,
    position,
    sheet: table.sheet,
    regionId: table.regionId,
    range: table.range,
    minRow: table.rowBase + 1,
    maxRow: table.maxRowId,
    rowBase: table.rowBase,
    provenanceKey: table.provenanceKey,
    keptKey: table.kept?.key ?? null,
    keptFormulas: table.kept?.formulas ?? 0,
  };
}
