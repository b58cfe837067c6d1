import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import { conflictResolved } from '../../core/journal/tableNotes.ts';
import type { Override } from '../../core/overrides/override.ts';
import { fillDefaults } from '../../core/table/cells.ts';
import { type PreparedEdit, planRowEdit } from '../../core/table/edit.ts';
import { planDelete } from '../../core/table/planRows.ts';
import type { TableAt } from '../../core/table/table.ts';
import { rowIdField } from '../../core/table/visibleTable.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type ConflictStatus, closeConflict, findConflict, type ListedConflict } from '../../store/pg/conflicts.ts';
import { endOverrides } from '../../store/pg/overrides.ts';
import type { EditedTable } from '../../store/pg/tableEdits.ts';
import { findCurrentTableById, findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { refuseMasked } from '../rows/refuseMasked.ts';
import { planOnStored } from '../rows/upsertRows.ts';
import { applyEdit, requireEditable } from '../tables/editTable.ts';
import { type SeenConflict, seeConflicts } from './seeConflicts.ts';

export type ConflictAction = 'acknowledge' | 'revert' | 'drop_override';

/** An edit that closes a conflict, and what the conflict says then. */
export interface Resolution extends PreparedEdit {
  conflict: SeenConflict;
  status: ConflictStatus;
  current: string | null;
  /** The override that it takes away. */
  dropped?: Override;
}

/** An open conflict that the action fits. */
export async function requireOpen(
  services: Services,
  principal: Principal,
  workbookId: string,
  conflictId: string,
  action: ConflictAction,
): Promise<SeenConflict> {
  const found = isId(conflictId, 'cfl') ? await findConflict(services.db.orm, workbookId, conflictId) : null;
  const [seen] = found ? await seeConflicts(services, principal, [found]) : [];
  if (!seen) throw notFound('conflict in this workbook', 'GET …/conflicts lists the conflicts.');
  if (seen.status !== 'open') throw closedAlready(seen);
  if (action === 'revert' && seen.kind !== 'overwrite')
    throw new DomainError('in-use', 'Only `overwrite` conflicts can be reverted.', 'Use `drop_override` or `acknowledge`.');
  if (action === 'drop_override' && seen.kind !== 'stale_override')
    throw new DomainError('in-use', 'Only `stale_override` conflicts have an override to drop.', 'Use `revert` or `acknowledge`.');
  return seen;
}

function closedAlready({ id, status }: Pick<ListedConflict, 'id' | 'status'>): DomainError {
  return new DomainError('in-use', `The conflict ${id} is closed already (${status}).`, 'Edit the cell if you want another value in it.');
}

/** Runs in the transaction. */
export async function closeInTx(tx: Tx, conflict: SeenConflict, status: ConflictStatus, current: string | null): Promise<void> {
  if (!(await closeConflict(tx, conflict.id, status, current))) throw closedAlready(conflict);
  tx.note(conflict.workbookId, conflictResolved(conflict.id, status));
}

/** Plans to write the value back that was replaced. */
export async function prepareRevert(services: Services, conflict: SeenConflict): Promise<Resolution> {
  if (conflict.column?.masked) throw refuseMasked(conflict.column, 'Ask somebody who may see it.');
  const at = await findCurrentTableById(services.db.pool, conflict.tableId);
  if (!at) throw new DomainError('in-use', 'The table was deleted.', 'Close the conflict with `acknowledge`.');
  requireEditable(at);
  const edit = conflict.columnId === rowIdField.id ? await planRow(services, at, conflict) : await planCell(services, at, conflict);
  return { ...edit, conflict, status: 'reverted', current: conflict.prior };
}

async function planCell(services: Services, at: TableAt, { rowId, columnId, prior }: SeenConflict): Promise<PreparedEdit> {
  if (!at.columns.some(({ id }) => id === columnId)) throw gone('column');
  const cast = { rowId, cells: { [columnId]: prior }, given: [columnId] };
  return planOnStored(services, at, [cast], { words: { pointerOf: () => '', refuseMissing: () => gone('row') } });
}

/** Deletes the row again that the merge brought back, or brings back the one that it deleted. */
async function planRow(services: Services, at: TableAt, { rowId, prior, editVersion }: SeenConflict): Promise<PreparedEdit> {
  const stored = await readStoredRows(services, at, [rowId]);
  if (prior === null) {
    const plan = planDelete(at, [rowId], stored);
    if (plan.kind === 'planned') return plan.edit;
    throw gone('row');
  }
  if (stored.has(rowId)) throw new DomainError('in-use', 'The row exists again.', 'Close the conflict with `acknowledge`.');
  const last = await findTableAt(services.db.pool, at.table, editVersion - 1);
  const before = last && (await readStoredRows(services, last, [rowId])).get(rowId);
  if (!before) throw gone('row');
  const changed = at.columns.map(({ id }) => id);
  const entry = { rowId, op: 'I' as const, changed, cells: fillDefaults(at.columns, before), before: null };
  return { at, plan: planRowEdit('rows.upsert', [entry]), rowIds: [rowId] };
}

export function gone(what: 'row' | 'column'): DomainError {
  return new DomainError('in-use', `The ${what} of the conflict does not exist any more.`, 'Close the conflict with `acknowledge`.');
}

/** Runs in the transaction: writes the value and closes the conflict. */
export async function applyResolution(tx: Tx, { at, plan, conflict, status, current, dropped }: Resolution): Promise<EditedTable> {
  const edited = await applyEdit(tx, at, plan);
  await closeInTx(tx, conflict, status, current);
  if (dropped) await endOverrides(tx, at.table.id, edited.editVersion, [dropped]);
  return edited;
}
