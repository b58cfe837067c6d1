import { DomainError, notFound } from '../../core/errors.ts';
import { columnDescribed, tableDeleted, tableDescribed, tableStateSet } from '../../core/journal/tableNotes.ts';
import type { ColumnRecord, TableAt, TableRecord } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { VersionMoved } from '../../store/pg/tableEdits.ts';
import { describeColumn, holdTables, updateTable } from '../../store/pg/tables.ts';
import { listReaders } from '../../store/pg/transforms.ts';
import { nameTaken, requireFreeName } from './takenNames.ts';

/** Removes the table from the workbook; snapshots and versions keep it. Refused while something is derived from it. */
export async function deleteTable(tx: Tx, at: TableAt): Promise<void> {
  const { table } = at;
  const gone = await updateTable(tx, table.id, { deletedAt: tx.at }, at.editVersion);
  if (!gone) throw new VersionMoved();
  // After the update: a run that reads the table now waits for it, and finds it deleted.
  const readers = (await listReaders(tx.orm, table.workbookId, table.id)).map(({ output }) => output);
  if (readers.length > 0)
    throw new DomainError(
      'in-use',
      `${readers.slice(0, 5).join(', ')}${readers.length > 5 ? ` and ${readers.length - 5} more` : ''} ${readers.length > 1 ? 'are' : 'is'} derived from the table.`,
      'Delete the transforms that read it first.',
    );
  tx.note(table.workbookId, tableDeleted(table, at.editVersion));
}

export async function setTableState(tx: Tx, table: TableRecord, state: 'active' | 'archived'): Promise<TableRecord> {
  if (table.state === state) return table;
  await holdTables(tx, { changed: [table.id], read: [] });
  if (state === 'active') await requireFreeName(tx, table.workbookId, table.name, 'table');
  let changed: TableRecord | null;
  try {
    changed = await updateTable(tx, table.id, { state });
  } catch (error) {
    if (brokenConstraint(error) === 'tables_name') throw nameTaken(table.name);
    throw error;
  }
  if (!changed) throw notFound('table');
  tx.note(table.workbookId, tableStateSet(table, table.editVersion, state));
  return changed;
}

export async function setTableDescription(tx: Tx, table: TableRecord, description: string | null): Promise<void> {
  if (table.description === description) return;
  if (!(await updateTable(tx, table.id, { description }))) throw notFound('table');
  tx.note(table.workbookId, tableDescribed(table));
}

export async function setColumnDescription(tx: Tx, table: TableRecord, column: ColumnRecord, description: string | null): Promise<void> {
  if (column.description === description) return;
  await describeColumn(tx, table.id, column.id, description);
  tx.note(table.workbookId, columnDescribed(table, column.id));
}
