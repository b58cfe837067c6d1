import type { Principal } from '../../core/access/principal.ts';
import { DomainError, describeFirst, notFound, type ProblemItem } from '../../core/errors.ts';
import { bindingDeleted, bindingPut } from '../../core/journal/bindingNotes.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import { describeUnknownColumn, findColumn } from '../../core/table/findColumn.ts';
import type { TableAt, TableRecord } from '../../core/table/table.ts';
import { type BindingRecord, deleteBinding, putBinding } from '../../store/pg/bindings.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { makeId, type Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

export type WantedBinding = Pick<BindingRecord, 'externalKind' | 'externalRef' | 'direction' | 'ownershipMap'>;

/** Refuses columns that the table does not have for the caller. */
export async function checkOwners(services: Services, principal: Principal, at: TableAt, { ownershipMap }: WantedBinding): Promise<void> {
  const { columns } = await openVisibleColumns(services, principal, at);
  const errors = Object.keys(ownershipMap ?? {}).flatMap((name): ProblemItem[] =>
    findColumn(columns, name) ? [] : [{ pointer: `/ownership_map/${escapePointer(name)}`, detail: describeUnknownColumn(columns, name) }],
  );
  if (errors.length === 0) return;
  throw new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists.', { errors: errors.slice(0, 100) });
}

/** Maps a table to a sheet elsewhere. Nothing is synchronized. */
export async function bindSheet(tx: Tx, table: TableRecord, wanted: WantedBinding): Promise<BindingRecord> {
  const { id: tableId, workbookId, accountId } = table;
  const put = await putBinding(tx, { id: makeId('bnd'), tableId, workbookId, accountId, ...wanted, actor: tx.actor.name });
  if ('boundTo' in put)
    throw new DomainError('in-use', `The sheet is bound to the table ${put.boundTo}.`, 'Remove that binding first, or bind another sheet.');
  tx.note(workbookId, bindingPut(table, put.binding));
  return put.binding;
}

export async function unbindSheet(tx: Tx, table: TableRecord, bindingId: string): Promise<void> {
  if (!(await deleteBinding(tx, table.id, bindingId)))
    throw notFound('such binding of this table', 'GET …/sync-bindings lists the bindings.');
  tx.note(table.workbookId, bindingDeleted(table, bindingId));
}
