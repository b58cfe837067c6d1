import type { Principal } from '../../core/access/principal.ts';
import { sameValue } from '../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { undoableKinds } from '../../core/journal/opKinds.ts';
import type { LogEntry, LogRow } from '../../core/table/log.ts';
import type { Cells, TableAt } from '../../core/table/table.ts';
import { listColumnsEver } from '../../store/pg/columns.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findOp, listCancelledVersions, markUndone, type OpRecord } from '../../store/pg/ops.ts';
import { type EditedTable, findCurrentTableById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { applyEdit, type PlannedEdit, type PreparedEdit, requireEditable } from '../tables/editTable.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { listVisibleCells } from './checkVersion.ts';
import { writeLargeEdit } from './largeEdit.ts';
import { readLog } from './readLog.ts';
import { readStoredRows } from './readStoredRows.ts';

const mostChanged = 1000;

export interface PreparedUndo extends PreparedEdit {
  op: OpRecord;
}

/** The inverse of an op on top of the table as it is now, or a refusal that names the cells which stand in the way. */
export async function prepareUndo(services: Services, principal: Principal, workbookId: string, opId: number): Promise<PreparedUndo> {
  const op = await requireUndoable(services, workbookId, opId);
  const at = op.tableId === null ? null : await findCurrentTableById(services.db.pool, op.tableId);
  if (!at) throw new DomainError('in-use', 'The table of this op was deleted.', 'Restore a snapshot that has it.');
  requireEditable(at);
  const version = op.editVersion as number;
  const entries = await readLog(services, at.table.id, { after: version - 1, upTo: version });
  await refuseHidden(services, principal, at, entries);

  const rowIds = entries.map((entry) => entry.rowId);
  const [current, touched] = await Promise.all([readStoredRows(services, at, rowIds), listTouchedSince(services, at, version, rowIds)]);
  const inverse: LogEntry[] = [];
  const conflicts = new Map<number, Set<number>>();
  for (const entry of entries) {
    const cells = findConflicts(at, entry, current.get(entry.rowId) ?? null, touched.get(entry.rowId) ?? null);
    if (cells.length > 0) conflicts.set(entry.rowId, new Set(cells));
    else inverse.push(...invert(at, entry, current.get(entry.rowId) ?? null));
  }
  if (conflicts.size > 0) await refuseConflicts(services, principal, at, op, conflicts);

  const plan: PlannedEdit = {
    kind: 'rows.undo',
    inserted: inverse.filter((entry) => entry.op === 'I').length,
    updated: inverse.filter((entry) => entry.op === 'U').length,
    deleted: inverse.filter((entry) => entry.op === 'D').length,
    entries: inverse,
    layers: null,
    schemaChanged: false,
    detail: { undone_op_id: op.opId },
  };
  return { op, ...(await writeLargeEdit(services, { at, plan, rowIds })) };
}

/** In the transaction: the inverse, and the mark on the op that it was undone. */
export async function applyUndo(tx: Tx, { op, at, plan }: PreparedUndo): Promise<EditedTable> {
  const edited = await applyEdit(tx, at, plan);
  if (!(await markUndone(tx, op.scope, op.opId))) throw undoneAlready(op);
  return edited;
}

async function requireUndoable(services: Services, workbookId: string, opId: number): Promise<OpRecord> {
  const op = await findOp(services.db.orm, workbookId, opId);
  if (!op) throw notFound('op in this workbook', 'GET …/ops lists the ops.');
  if (!op.undoable)
    throw new DomainError(
      'in-use',
      `An op of the kind ${op.kind} cannot be undone.`,
      `Only ${undoableKinds.join(' and ')} can be undone; restore a snapshot for anything else.`,
    );
  if (op.undoneBy !== null) throw undoneAlready(op);
  return op;
}

function undoneAlready(op: OpRecord): DomainError {
  const by = op.undoneBy === null ? '' : ` by op ${op.undoneBy}`;
  return new DomainError('in-use', `Op ${op.opId} was undone already${by}.`, 'Make the edit again if you want it back.');
}

/** What one may not write, one may not undo. Rows as a whole come and go without showing what is in them. */
async function refuseHidden(services: Services, principal: Principal, at: TableAt, entries: LogRow[]): Promise<void> {
  const { effects } = await openVisibleColumns(services, principal, at);
  if (effects.size === 0 || !entries.some((entry) => entry.op === 'U' && entry.changed.some((id) => effects.has(id)))) return;
  throw new DomainError('insufficient-role', 'The op changed columns that are hidden from you.', 'Ask somebody who may see them.');
}

/** Column ids by row that edits after a version changed. Ops that were undone since, and their undoing, do not count. */
async function listTouchedSince(services: Services, at: TableAt, version: number, rowIds: number[]): Promise<Map<number, Set<number>>> {
  const [later, cancelled] = await Promise.all([
    readLog(services, at.table.id, { after: version, upTo: at.editVersion, rowIds, withCells: false }),
    listCancelledVersions(services.db.orm, at.table.id, version),
  ]);
  const touched = new Map<number, Set<number>>();
  for (const entry of later) {
    if (cancelled.has(entry.editVersion)) continue;
    const columns = touched.get(entry.rowId) ?? new Set<number>();
    for (const id of entry.op === 'U' ? entry.changed : at.columns.map((column) => column.id)) columns.add(id);
    touched.set(entry.rowId, columns);
  }
  return touched;
}

/**
 * The cells of an entry that cannot go back: their column ended, a later edit touched them, or they do not hold what the
 * op left there (a restore changes rows without an entry).
 */
function findConflicts(at: TableAt, entry: LogRow, current: Cells | null, touched: Set<number> | null): number[] {
  const types = new Map(at.columns.map((column) => [column.id, column.type]));
  const given = entry.op === 'D' ? entry.changed.filter((id) => (entry.before?.[id] ?? null) !== null) : entry.changed;
  const ended = given.filter((id) => !types.has(id));
  switch (entry.op) {
    case 'D':
      return current || touched ? entry.changed : ended;
    case 'I':
      if (!current) return entry.changed.length > 0 ? entry.changed : at.columns.map((column) => column.id);
      return [...new Set([...ended, ...(touched ?? []), ...given.filter((id) => isOther(types.get(id), entry.cells, current, id))])];
    case 'U':
      if (!current) return entry.changed;
      return given.filter((id) => !types.has(id) || touched?.has(id) || isOther(types.get(id), entry.cells, current, id));
  }
}

function isOther(type: string | undefined, left: Cells | null, current: Cells, id: number): boolean {
  return type !== undefined && !sameValue(parseColumnType(type) as ColumnType, left?.[id] ?? null, current[id] ?? null);
}

function invert(at: TableAt, entry: LogRow, current: Cells | null): LogEntry[] {
  const { rowId } = entry;
  switch (entry.op) {
    case 'I':
      return [{ rowId, op: 'D', changed: at.columns.map((column) => column.id), cells: null, before: current }];
    case 'D': {
      // Columns that were added since show their default, as in every row that was there before them.
      const before = entry.before ?? {};
      const cells = Object.fromEntries(
        at.columns.map((column) => [column.id, column.id in before ? (before[column.id] ?? null) : column.defaultText]),
      );
      return [{ rowId, op: 'I', changed: at.columns.map(({ id }) => id).filter((id) => cells[id] !== null), cells, before: null }];
    }
    case 'U': {
      if (entry.changed.length === 0) return [];
      const back = Object.fromEntries(entry.changed.map((id) => [id, entry.before?.[id] ?? null]));
      const before = Object.fromEntries(entry.changed.map((id) => [id, current?.[id] ?? null]));
      return [{ rowId, op: 'U', changed: entry.changed, cells: { ...current, ...back }, before }];
    }
  }
}

async function refuseConflicts(
  services: Services,
  principal: Principal,
  at: TableAt,
  op: OpRecord,
  conflicts: Map<number, Set<number>>,
): Promise<never> {
  // Columns that ended are named, too, unless they would be denied today.
  const columns = await listColumnsEver(services.db.orm, at.table.id);
  const { columns: visible } = await openVisibleColumns(services, principal, { ...at, columns });
  const cells = listVisibleCells(conflicts, visible);
  throw new DomainError(
    'version-conflict',
    `Op ${op.opId} cannot be undone: cells that it wrote were changed since, or their columns ended.`,
    'Look at `changed` and edit those cells yourself.',
    { members: { current_version: at.editVersion, changed: cells.slice(0, mostChanged), changed_truncated: cells.length > mostChanged } },
  );
}
