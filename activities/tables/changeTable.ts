import { DomainError, notFound } from '../../core/errors.ts';
import type { ColumnRecord, TableAt, TableRecord } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { describeColumn, updateTable, VersionMoved } from '../../store/pg/tables.ts';
import { makeId } from '../../store/services.ts';
import { nameTaken } from './createTable.ts';

/** Gone from the workbook; snapshots and versions that hold it keep it. */
export async function deleteTable(tx: Tx, at: TableAt): Promise<void> {
  const { table } = at;
  const gone = await updateTable(tx, table.id, { deletedAt: tx.at }, at.editVersion);
  if (!gone) throw new VersionMoved();
  tx.note(table.workbookId, {
    ops: [
      {
        kind: 'table.delete',
        tableId: table.id,
        tableName: table.name,
        editVersion: at.editVersion,
        codeRef: `${table.id}@${at.editVersion}`,
      },
    ],
    audit: [{ action: 'table.delete', target: table.name, detail: { edit_version: at.editVersion } }],
    events: [{ id: makeId('evt'), type: 'artifact.deleted', data: { name: table.name, edit_version: at.editVersion } }],
    usage: [{ kind: 'op', amount: 1 }],
  });
}

export async function setTableState(tx: Tx, table: TableRecord, state: 'active' | 'archived'): Promise<TableRecord> {
  if (table.state === state) return table;
  let changed: TableRecord | null;
  try {
    changed = await updateTable(tx, table.id, { state });
  } catch (error) {
    if (brokenConstraint(error) === 'tables_name') throw nameTaken(table.name);
    throw error;
  }
  if (!changed) throw notFound('table');
  const kind = state === 'archived' ? 'table.archive' : 'table.unarchive';
  tx.note(table.workbookId, {
    ops: [{ kind, tableId: table.id, tableName: table.name, editVersion: table.editVersion, codeRef: `${table.id}@${table.editVersion}` }],
    audit: [{ action: kind, target: table.name }],
    events: [{ id: makeId('evt'), type: 'artifact.updated', data: { name: table.name, edit_version: table.editVersion, state } }],
    usage: [{ kind: 'op', amount: 1 }],
  });
  return changed;
}

export async function setTableDescription(tx: Tx, table: TableRecord, description: string | null): Promise<void> {
  if (table.description === description) return;
  if (!(await updateTable(tx, table.id, { description }))) throw notFound('table');
  tx.note(table.workbookId, { audit: [{ action: 'table.describe', target: table.name }], usage: [{ kind: 'op', amount: 1 }] });
}

export async function setColumnDescription(tx: Tx, table: TableRecord, column: ColumnRecord, description: string | null): Promise<void> {
  if (column.description === description) return;
  await describeColumn(tx, table.id, column.id, description);
  tx.note(table.workbookId, {
    audit: [{ action: 'column.describe', target: `${table.name}.${column.name}` }],
    usage: [{ kind: 'op', amount: 1 }],
  });
}

/** Tables that are needed by others cannot go. */
export function refuseWhileUsed(derived: string[]): void {
  if (derived.length === 0) return;
  throw new DomainError('in-use', `Other tables are derived from it: ${derived.slice(0, 10).join(', ')}.`, 'Delete those first.');
}
