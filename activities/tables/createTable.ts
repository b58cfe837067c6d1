import { DomainError, describeFirst } from '../../core/errors.ts';
import { tableCreated } from '../../core/journal/tableNotes.ts';
import { findTableNameFault } from '../../core/table/nameFaults.ts';
import { checkNewColumns } from '../../core/table/planColumns.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { insertTable } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId } from '../../store/services.ts';
import { nameTaken, requireFreeName } from './takenNames.ts';

export interface ColumnWanted {
  name: string;
  type: string;
}

/** Normalises names and types, or refuses with every fault and its pointer. */
export function checkColumns(columns: { name: string; type?: string }[], pointer: string): ColumnWanted[] {
  const checked = checkNewColumns(columns);
  if (checked.kind === 'checked') return checked.columns;
  const errors = checked.faults.map(({ column, member, why }) => ({ pointer: `${pointer}/${column}/${member}`, detail: why }));
  throw new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists.', { errors });
}

/** Creates an empty base table at version 1. */
export async function createTable(
  tx: Tx,
  workbook: VisibleWorkbook,
  wanted: { name: string; columns: ColumnWanted[] },
): Promise<{ name: string; editVersion: number }> {
  const { name } = wanted;
  const why = findTableNameFault(name);
  if (why)
    throw new DomainError('validation-failed', `/name: ${why}.`, 'Give the table another name.', {
      errors: [{ pointer: '/name', detail: why }],
    });
  await requireFreeName(tx, workbook.id, name, 'table');
  const id = makeId('tbl');
  try {
    await insertTable(tx, {
      id,
      workbookId: workbook.id,
      accountId: workbook.accountId,
      name,
      layer: 'base',
      versionUid: makeId('ver'),
      manifestId: makeId('mft'),
      columns: wanted.columns,
      layers: [{ kind: 'log', after: 1, upTo: null }],
      rowCount: 0,
      nextRowId: 1,
    });
  } catch (error) {
    if (brokenConstraint(error) === 'tables_name') throw nameTaken(name);
    throw error;
  }
  tx.note(workbook.id, tableCreated({ id, name }, wanted.columns.length));
  return { name, editVersion: 1 };
}
