import { formatColumnType, parseColumnType, typeNames } from '../../core/cells/columnTypes.ts';
import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import { tableCreated } from '../../core/journal/tableNotes.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { brokenConstraint } from '../../store/pg/database.ts';
import { insertTable } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId } from '../../store/services.ts';

export interface ColumnWanted {
  name: string;
  type: string;
}

export const dotsRefused = 'cannot stand in an address';

/** `.` and `..` mean other places in a URL, percent-encoded too: what has such a name could never be asked for. */
export function isDots(name: string): boolean {
  return name === '.' || name === '..';
}

/** Names and types as they will be kept; everything that is wrong with them, each with its pointer. */
export function checkColumns(columns: { name: string; type?: string }[], pointer: string): ColumnWanted[] {
  const errors: ProblemItem[] = [];
  const seen = new Set<string>();
  const checked = columns.map((column, i) => {
    const name = column.name.trim();
    const type = parseColumnType(column.type ?? 'VARCHAR');
    const key = name.toLowerCase();
    if (name === '') errors.push({ pointer: `${pointer}/${i}/name`, detail: 'must not be blank' });
    if (isDots(name)) errors.push({ pointer: `${pointer}/${i}/name`, detail: dotsRefused });
    if (key === rowIdColumn) errors.push({ pointer: `${pointer}/${i}/name`, detail: 'is the name of the row identifier' });
    if (seen.has(key)) errors.push({ pointer: `${pointer}/${i}/name`, detail: 'stands there twice (case does not count)' });
    seen.add(key);
    if (!type) errors.push({ pointer: `${pointer}/${i}/type`, detail: `is not one of ${typeNames.join(', ')}` });
    return { name, type: type ? formatColumnType(type) : '' };
  });
  if (errors.length > 0) throw new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists.', { errors });
  return checked;
}

export function nameTaken(name: string): DomainError {
  return new DomainError(
    'name-taken',
    `An active table named ${name} exists in this workbook (case does not count).`,
    'Choose another name, or archive or delete that table.',
  );
}

/** An empty base table at version 1. */
export async function createTable(
  tx: Tx,
  workbook: VisibleWorkbook,
  wanted: { name: string; columns: ColumnWanted[] },
): Promise<{ name: string; editVersion: number }> {
  const name = wanted.name.trim();
  // A table is found by its name or its id: one named by the id of another would never be found, or be taken for it.
  const why = name === '' ? 'must not be blank' : isDots(name) ? dotsRefused : isId(name, 'tbl') ? 'has the form of a table id' : null;
  if (why)
    throw new DomainError('validation-failed', `/name: ${why}.`, 'Give the table another name.', {
      errors: [{ pointer: '/name', detail: why }],
    });
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
