import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { matchHeader } from '../../core/merge/matchHeader.ts';
import { holdsCells, type PackedRow, unpackRow } from '../../core/merge/packedRow.ts';
import { type MergePlan, MergePlanner, type RowFault } from '../../core/merge/planMerge.ts';
import { fillDefaults } from '../../core/table/cells.ts';
import { type PreparedEdit, planRowEdit } from '../../core/table/edit.ts';
import type { Cells, ColumnRecord, TableAt } from '../../core/table/table.ts';
import { type ByteColumn, readByteText, readRowIds } from '../../core/table/textBatch.ts';
import { rowIdField, seeEverything } from '../../core/table/visibleTable.ts';
import type { BranchRecord } from '../../store/pg/branches.ts';
import { listMergedVersions } from '../../store/pg/ops.ts';
import { findCurrentTableById, findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { eachByteBatch } from '../../store/tables/readByteBatches.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { findUnloggedVersions, readLog } from '../rows/readLog.ts';
import { writeLargeEdit } from '../rows/writeLargeEdit.ts';
import { requireEditable } from '../tables/editTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { findSheet, mostRows, type ReturnedFile, refuseHeader, refuseMergedCells, refuseTooLarge } from './readReturnedFile.ts';

/** A sheet of the file with the columns of its table. */
export interface MergeInput {
  branch: BranchRecord;
  sheet: string;
  columns: ColumnRecord[];
  rows: PackedRow[];
}

export interface PreparedMerge extends PreparedEdit {
  branch: BranchRecord;
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
  return {
    branch,
    sheet: sheet.name,
    columns: matched.header.columns.map(({ column }) => column),
    rows: await file.readRows(place, matched.header),
  };
}

async function requireCurrent(services: Services, branch: BranchRecord): Promise<TableAt> {
  const at = await findCurrentTableById(services.db.pool, branch.tableId);
  if (!at) throw notFound('table of the branch', 'It was deleted since the export.');
  requireEditable(at);
  return at;
}

/** Plans the merge on the current version, and writes its file if it is large. */
export async function prepareMerge(services: Services, { branch, sheet, columns, rows }: MergeInput): Promise<PreparedMerge> {
  const at = await requireCurrent(services, branch);
  const base = await findTableAt(services.db.pool, at.table, branch.baseVersion);
  if (!base) throw new DomainError('in-use', 'The rows of the export are not kept any more.', 'Export the table again.');
  const ids = new Set(at.columns.map(({ id }) => id));
  const inFile = columns.filter(({ id }) => ids.has(id));
  if (inFile.length < columns.length)
    throw new DomainError('in-use', 'Columns of the file were changed meanwhile.', 'Merge the file again.');
  const byId = new Map<number, PackedRow>();
  const planner = new MergePlanner(at.columns, columns, await listEarlierInserts(services, at, branch.id));
  for (const row of rows) {
    const [place, rowId] = row;
    const twin = typeof rowId === 'number' ? byId.get(rowId) : undefined;
    if (twin) planner.add({ rowId: rowId as number, base: null, current: null, file: { ...unpackRow(row), place, twin: twin[0] } });
    else if (typeof rowId === 'number') byId.set(rowId, row);
    else planner.add({ rowId: null, base: null, current: null, file: unpackRow(row) });
  }
  const candidates = await listCandidates(services, base, { all: at.columns, inFile: columns }, byId, planner);
  const touched = await listTouched(services, base, at);
  const asked = [...candidates.keys()].filter((rowId) => touched?.has(rowId) ?? true);
  const stored = await readStoredRows(services, at, asked);
  if (touched) for (const [rowId, baseCells] of candidates) if (!touched.has(rowId)) stored.set(rowId, fillDefaults(at.columns, baseCells));
  for (const [rowId, baseCells] of candidates) {
    const packed = byId.get(rowId);
    byId.delete(rowId);
    planner.add({ rowId, base: baseCells, current: stored.get(rowId) ?? null, file: packed ? unpackRow(packed) : null });
  }
  for (const [rowId, row] of byId) planner.add({ rowId, base: null, current: null, file: unpackRow(row) });
  const { plan } = planner;
  if (plan.faults.length > 0) throw refuseRows(sheet, plan.faults);
  const edit = planRowEdit('merge.apply', plan.entries, { branch_id: branch.id, conflicts: plan.conflicts.length });
  const prepared = { at, plan: { ...edit, codeRef: branch.id }, rowIds: plan.entries.map(({ rowId }) => rowId) };
  return { ...(await writeLargeEdit(services, prepared)), branch, conflicts: plan.conflicts, unchanged: plan.unchanged };
}

/** Rows of the export that the file changed or does not have. The others are counted, and taken out of `byId`. */
async function listCandidates(
  services: Services,
  base: TableAt,
  columns: { all: ColumnRecord[]; inFile: ColumnRecord[] },
  byId: Map<number, PackedRow>,
  planner: MergePlanner,
): Promise<Map<number, Cells>> {
  const visible = seeEverything(base);
  const kept = new Set(columns.all.map(({ id }) => id));
  const read = visible.columns.filter(({ id }) => kept.has(id));
  const places = columns.inFile.map(({ id }) => read.findIndex((column) => column.id === id));
  const candidates = new Map<number, Cells>();
  await eachByteBatch(services, { visible, columns: [...read, rowIdField] }, async (batch) => {
    const { columns: cells } = batch;
    const inFile = places.map((place) => cells[place]);
    for (const [i, rowId] of readRowIds(batch).entries()) {
      const row = byId.get(rowId);
      if (row && holdsCells(row, inFile, i)) {
        byId.delete(rowId);
        planner.plan.unchanged += 1;
        continue;
      }
      const texts = read.map(({ id }, place) => [id, readByteText(cells[place] as ByteColumn, i)] as const);
      candidates.set(rowId, Object.fromEntries(texts));
    }
  });
  return candidates;
}

/** Rows that were changed since the export. Null: there are many, or not all changes are in the log. */
async function listTouched(services: Services, base: TableAt, at: TableAt): Promise<Set<number> | null> {
  const [after, upTo] = [base.editVersion, at.editVersion];
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
