import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { type PlannedEdit, type PreparedEdit, requireEditable } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { checkVersion } from './checkVersion.ts';
import { writeLargeEdit } from './largeEdit.ts';
import { castRows, planUpsert, touchedCells } from './planUpsert.ts';
import { readStoredRows } from './readStoredRows.ts';

export interface EditRequest {
  workbookId: string;
  name: string;
  expectedVersion: number | null;
  rebase: boolean;
}

/** What the caller may see of the columns, and which of those are masked. */
export async function visibleColumns(
  services: Services,
  principal: Principal,
  at: Pick<TableAt, 'table' | 'columns'>,
): Promise<{ visible: ColumnRecord[]; masked: Set<number> }> {
  const { columns } = await openVisibleColumns(services, principal, at);
  return { visible: columns, masked: new Set(columns.flatMap(({ id, masked }) => (masked ? [id] : []))) };
}

/** Reads, casts and, for a large one, writes the file: all that comes before the transaction. */
export async function prepareUpsert(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rows: readonly object[],
): Promise<PreparedEdit> {
  const at = await requireTable(services, request.workbookId, request.name);
  requireEditable(at);
  const { visible, masked } = await visibleColumns(services, principal, at);
  const cast = castRows(visible, masked, rows);
  await checkVersion(services, at, request.expectedVersion, visible, request.rebase ? { touched: touchedCells(cast) } : null);
  return writeLargeEdit(services, await planUpsert(services, at, cast));
}

export async function prepareDelete(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rowIds: number[],
): Promise<PreparedEdit> {
  const at = await requireTable(services, request.workbookId, request.name);
  requireEditable(at);
  const { visible } = await visibleColumns(services, principal, at);
  const wanted = [...new Set(rowIds)];
  await checkVersion(
    services,
    at,
    request.expectedVersion,
    visible,
    request.rebase ? { touched: new Map(wanted.map((id) => [id, 'row'])) } : null,
  );
  const stored = await readStoredRows(services, at, wanted);
  requireRows(rowIds, stored);
  const changed = at.columns.map((column) => column.id);
  const entries = wanted.map((rowId) => ({ rowId, op: 'D' as const, changed, cells: null, before: stored.get(rowId) ?? null }));
  const plan: PlannedEdit = {
    kind: 'rows.delete',
    inserted: 0,
    updated: 0,
    deleted: wanted.length,
    entries,
    layers: null,
    schemaChanged: false,
  };
  return writeLargeEdit(services, { at, plan, rowIds: wanted });
}

function requireRows(rowIds: number[], stored: Map<number, unknown>): void {
  const errors = rowIds.flatMap((id, i) => (stored.has(id) ? [] : [{ pointer: `/row_ids/${i}`, detail: 'names no row of this table' }]));
  if (errors.length === 0) return;
  throw new DomainError('validation-failed', 'Some rows do not exist.', 'Read the rows again to get their ids; nothing was changed.', {
    errors: errors.slice(0, 100),
  });
}
