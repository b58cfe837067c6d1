import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { undoableKinds } from '../../core/journal/opKinds.ts';
import { changedCells, nameCells } from '../../core/table/changes.ts';
import { type PreparedEdit, planRowEdit } from '../../core/table/edit.ts';
import type { LogRow } from '../../core/table/log.ts';
import { planUndo } from '../../core/table/planUndo.ts';
import type { TableAt } from '../../core/table/table.ts';
import { listColumnsEver } from '../../store/pg/columns.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findOp, listCancelledVersions, markUndone, type OpRecord } from '../../store/pg/ops.ts';
import type { EditedTable } from '../../store/pg/tableEdits.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { overrideCells, readUndone, requireCellsEditable } from '../overrides/overrideCells.ts';
import { applyEdit } from '../tables/editTable.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { versionConflict } from './checkVersion.ts';
import { readLog } from './readLog.ts';
import { writeLargeEdit } from './writeLargeEdit.ts';

export interface PreparedUndo extends PreparedEdit {
  op: OpRecord;
}

/** Plans the inverse of an op on the current version, or refuses with the cells that prevent it. */
export async function prepareUndo(services: Services, principal: Principal, workbookId: string, opId: number): Promise<PreparedUndo> {
  const op = await requireUndoable(services, workbookId, opId);
  const at = op.tableId === null ? null : await findCurrentTableById(services.db.pool, op.tableId);
  if (!at) throw new DomainError('in-use', 'The table of this op was deleted.', 'Restore a snapshot that has it.');
  await requireCellsEditable(services, at);
  const version = op.editVersion as number;
  const entries = await readLog(services, at.table.id, { after: version - 1, upTo: version });
  await refuseHidden(services, principal, at, entries);

  const rowIds = entries.map((entry) => entry.rowId);
  const [current, touched] = await Promise.all([readStoredRows(services, at, rowIds), listTouchedSince(services, at, version, rowIds)]);
  const undo = planUndo(at.columns, await readUndone(services, at, version, entries), current, touched);
  if (undo.kind === 'conflicts') throw await describeConflicts(services, principal, at, op, undo.cells);
  const plan = planRowEdit('rows.undo', undo.entries, { undone_op_id: op.opId });
  return { op, ...(await writeLargeEdit(services, await overrideCells(services, { at, plan, rowIds }))) };
}

/** Runs in the transaction: applies the inverse and marks the op as undone. */
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

/**
 * Masked and denied cells cannot be undone, as they cannot be written. Inserted and deleted rows can: this shows none of their
 * content.
 */
async function refuseHidden(services: Services, principal: Principal, at: TableAt, entries: LogRow[]): Promise<void> {
  const { effects } = await openVisibleColumns(services, principal, at);
  if (effects.size === 0 || !entries.some((entry) => entry.op === 'U' && entry.changed.some((id) => effects.has(id)))) return;
  throw new DomainError('insufficient-role', 'The op changed columns that are hidden from you.', 'Ask somebody who may see them.');
}

/** By row, the columns that later edits changed. Ops that were undone, and their undos, do not count. */
async function listTouchedSince(services: Services, at: TableAt, version: number, rowIds: number[]): Promise<Map<number, Set<number>>> {
  const [later, cancelled] = await Promise.all([
    readLog(services, at.table.id, { after: version, upTo: at.editVersion, rowIds, withCells: false }),
    listCancelledVersions(services.db.orm, at.table.id, version),
  ]);
  return changedCells(
    later.filter((entry) => !cancelled.has(entry.editVersion)),
    at.columns,
  );
}

async function describeConflicts(
  services: Services,
  principal: Principal,
  at: TableAt,
  op: OpRecord,
  conflicts: Map<number, Set<number>>,
): Promise<DomainError> {
  // Also names dropped columns, unless they would be denied today.
  const columns = await listColumnsEver(services.db.orm, at.table.id);
  const { columns: visible } = await openVisibleColumns(services, principal, { ...at, columns });
  return versionConflict(
    at,
    `Op ${op.opId} cannot be undone: cells that it wrote were changed since, or their columns ended.`,
    'Look at `changed` and edit those cells yourself.',
    nameCells(conflicts, visible),
    false,
  );
}
