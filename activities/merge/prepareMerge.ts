import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { mostPlanned, mostRows, refuseTooLarge } from '../../core/merge/limits.ts';
import { matchHeader } from '../../core/merge/matchHeader.ts';
import { unpackRow } from '../../core/merge/packedRow.ts';
import { type MergePlan, MergePlanner, type RowFault } from '../../core/merge/planMerge.ts';
import { type PreparedEdit, planRowEdit } from '../../core/table/edit.ts';
import type { Cells, ColumnRecord, TableAt } from '../../core/table/table.ts';
import { rowIdField, seeEverything } from '../../core/table/visibleTable.ts';
import type { BranchRecord } from '../../store/pg/branches.ts';
import { listMergedVersions } from '../../store/pg/ops.ts';
import { findCurrentTableById, findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { eachBatchFile } from '../../store/tables/readByteBatches.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { findUnloggedVersions, readLog } from '../rows/readLog.ts';
import { writeLargeEdit } from '../rows/writeLargeEdit.ts';
import { requireEditable } from '../tables/editTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { type BaseRows, type DifferingRows, findSheet, type ReturnedFile, refuseHeader, refuseMergedCells } from './readReturnedFile.ts';

/** A sheet of the file with the columns of its table, and what differs from the export. */
export interface MergeInput extends DifferingRows {
  branch: BranchRecord;
  sheet: string;
  columns: ColumnRecord[];
  /** Ids of the columns of the export, in the order of the rows' texts. */
  baseColumns: number[];
}

export interface PreparedMerge extends PreparedEdit {
  branch: BranchRecord;
  /** Those of the file, which the caller may see and write. */
  columns: ColumnRecord[];
  /** The first rows that are written. */
  firstEntries: MergePlan['entries'];
  conflicts: MergePlan['conflicts'];
  unchanged: number;
}

/** Reads the sheet of a table from the file, as the caller may write it. */
export async function readInput(
  services: Services,
  principal: Principal,
  file: ReturnedFile,
  branch: BranchRecord,
  tableIds: string[],
): Promise<MergeInput> {
  const at = await requireCurrent(services, branch);
  if (branch.rowCount > mostRows) throw refuseTooLarge(`has more than ${mostRows} rows`);
  const place = findSheet(file.sheets, at.table, tableIds);
  const sheet = file.sheets[place];
  if (!sheet) throw new Error('the file has no such sheet');
  refuseMergedCells(sheet);
  const { columns } = await openVisibleTable(services, principal, at);
  const matched = matchHeader(sheet.header, branch.columns, columns);
  if (matched.kind === 'faulty') throw refuseHeader(sheet.name, matched.faults);
  if (sheet.rows > mostRows) throw refuseTooLarge(`has more than ${mostRows} rows`);
  const base = await openBase(services, at, branch);
  return {
    branch,
    sheet: sheet.name,
    columns: matched.header.columns.map(({ column }) => column),
    baseColumns: base.columns,
    ...(await file.compareRows(place, matched.header, base)),
  };
}

async function openBase(services: Services, { table }: TableAt, branch: BranchRecord): Promise<BaseRows> {
  const base = await findTableAt(services.db.pool, table, branch.baseVersion);
  if (!base) throw new DomainError('in-use', 'The rows of the export are not kept any more.', 'Export the table again.');
  const visible = seeEverything(base);
  return {
    columns: visible.columns.map(({ id }) => id),
    eachFile: (take) => eachBatchFile(services, { visible, columns: [...visible.columns, rowIdField] }, take),
  };
}

async function requireCurrent(services: Services, branch: BranchRecord): Promise<TableAt> {
  const at = await findCurrentTableById(services.db.pool, branch.tableId);
  if (!at) throw notFound('table of the branch', 'It was deleted since the export.');
  requireEditable(at);
  return at;
}

/** Plans the merge on the current version, and writes its file if it is large. */
export async function prepareMerge(services: Services, input: MergeInput): Promise<PreparedMerge> {
  const { branch, sheet, columns, baseColumns, rows, unchanged } = input;
  const at = await requireCurrent(services, branch);
  const ids = new Set(at.columns.map(({ id }) => id));
  if (!columns.every(({ id }) => ids.has(id)))
    throw new DomainError('in-use', 'Columns of the file were changed meanwhile.', 'Merge the file again.');
  const planner = new MergePlanner(at.columns, columns, unchanged, await listEarlierInserts(services, at, branch.id));
  const touched = await listTouched(services, at, branch.baseVersion);
  const isTouched = (rowId: number) => touched?.has(rowId) ?? true;
  const asked = rows.flatMap(([rowId, base]) => (base && typeof rowId === 'number' && isTouched(rowId) ? [rowId] : []));
  const stored = await readStoredRows(services, at, asked);
  for (const row of rows) {
    const { rowId: given, base: texts, file } = unpackRow(row);
    const rowId = typeof given === 'number' ? given : null;
    const base: Cells | null = texts && {};
    if (base) for (const [i, id] of baseColumns.entries()) base[id] = texts?.[i] ?? null;
    const current = rowId === null || isTouched(rowId) ? (stored.get(rowId ?? 0) ?? null) : base;
    planner.add({ rowId, base, current, file });
  }
  const { plan } = planner;
  if (plan.faults.length > 0) throw refuseRows(sheet, plan.faults);
  const edit = planRowEdit('merge.apply', plan.entries, { branch_id: branch.id, conflicts: plan.conflicts.length });
  const prepared = { at, plan: { ...edit, codeRef: branch.id }, rowIds: plan.entries.map(({ rowId }) => rowId) };
  const firstEntries = plan.entries.slice(0, mostPlanned);
  const { conflicts, unchanged: same } = plan;
  return { ...(await writeLargeEdit(services, prepared)), branch, columns, firstEntries, conflicts, unchanged: same };
}

/** Rows that were changed since the export. Null: there are many, or not all changes are in the log. */
async function listTouched(services: Services, at: TableAt, after: number): Promise<Set<number> | null> {
  const upTo = at.editVersion;
  if (!(await findUnloggedVersions(services, at.table.id, after, upTo)).logTellsAll) return null;
  const entries = await readLog(services, at.table.id, { after, upTo, limit: mostRows + 1, withCells: false });
  return entries.length > mostRows ? null : new Set(entries.map(({ rowId }) => rowId));
}

/** Rows that earlier merges of the branch added and that still exist, as they were then. */
async function listEarlierInserts(services: Services, at: TableAt, branchId: string): Promise<Cells[]> {
  const versions = await listMergedVersions(services.db.orm, at.table.id, branchId);
  const added: { rowId: number; cells: Cells }[] = [];
  for (const version of versions) {
    const entries = await readLog(services, at.table.id, { after: version - 1, upTo: version });
    for (const { op, rowId, cells } of entries) if (op === 'I' && cells) added.push({ rowId, cells });
  }
  const existing = await readStoredRows(
    services,
    at,
    added.map(({ rowId }) => rowId),
  );
  return added.flatMap(({ rowId, cells }) => (existing.has(rowId) ? [cells] : []));
}

function refuseRows(sheet: string, faults: RowFault[]): DomainError {
  const errors = faults.map(({ place, name, why }) => ({ pointer: `/file/${sheet}/${place}/${name}`, detail: why }));
  const [first] = faults;
  return new DomainError(
    'validation-failed',
    `Row ${first?.place} of ${sheet}: ${first?.name} ${first?.why}.`,
    'Correct the cells that `errors` lists and send the file again; nothing was changed.',
    { errors },
  );
}
