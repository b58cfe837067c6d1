import type { Principal } from '../../core/access/principal.ts';
import { castValue, Refusal } from '../../core/cells/castValue.ts';
import { type ColumnType, formatColumnType, parseColumnType, typeNames } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import { planColumnEdit } from '../../core/table/edit.ts';
import { addColumnAt, endColumnAt, renameColumnAt } from '../../store/pg/columns.ts';
import type { Services } from '../../store/services.ts';
import { type ColumnRequest, checkColumnName, openForColumns, type PreparedColumnChange, requireColumn } from './openColumn.ts';

/** As many as a sheet has. */
const mostColumns = 16_384;

export function requireColumnType(text: string): ColumnType {
  const type = parseColumnType(text);
  if (type) return type;
  const detail = `is not one of ${typeNames.join(', ')}`;
  throw new DomainError('validation-failed', `/type: ${detail}.`, 'Choose a type from the list.', {
    errors: [{ pointer: '/type', detail }],
  });
}

/** A column at the end. What was written before it is there reads as its default; nothing is rewritten. */
export async function prepareAddColumn(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
  wanted: { column: string; type?: string; default?: unknown },
): Promise<PreparedColumnChange> {
  const type = requireColumnType(wanted.type ?? 'VARCHAR');
  const { at } = await openForColumns(services, principal, request);
  const name = checkColumnName(wanted.column, '/column', at.columns);
  if (at.columns.length >= mostColumns)
    throw new DomainError('validation-failed', `A table has at most ${mostColumns} columns.`, 'Drop a column first.');
  const cast = castValue(type, wanted.default);
  if (cast instanceof Refusal)
    throw new DomainError('validation-failed', `/default: ${cast.why}.`, "Give a default that fits the column's type.", {
      errors: [{ pointer: '/default', detail: cast.why }],
    });
  const column = { id: at.table.nextColumnId, name, type: formatColumnType(type), defaultText: cast };
  return {
    at,
    plan: planColumnEdit('column.add', { column: name }),
    column: name,
    type: column.type,
    change: (tx, version) => addColumnAt(tx, at.table.id, version, column),
  };
}

/** The id stays, so nothing that is stored changes, and what follows the id goes on following it. */
export async function prepareRenameColumn(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
  columnName: string,
  newName: string,
): Promise<PreparedColumnChange> {
  const opened = await openForColumns(services, principal, request);
  const { at } = opened;
  const column = requireColumn(opened, columnName);
  const name = checkColumnName(
    newName,
    '/new_name',
    at.columns.filter((each) => each.id !== column.id),
  );
  return {
    at,
    plan: planColumnEdit('column.rename', { column: name, old_name: column.name }),
    column: name,
    type: column.type,
    change: (tx, version) => renameColumnAt(tx, at.table.id, version, column.id, name),
  };
}

/** The id ends; its values stay where they are for the versions that have it. */
export async function prepareDropColumn(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
  columnName: string,
): Promise<PreparedColumnChange> {
  const opened = await openForColumns(services, principal, request);
  const { at } = opened;
  const column = requireColumn(opened, columnName);
  if (at.columns.length === 1)
    throw new DomainError('in-use', 'The last column of a table cannot be dropped.', 'Add another column first, or delete the table.');
  return {
    at,
    plan: planColumnEdit('column.drop', { column: column.name }),
    column: column.name,
    type: null,
    async change(tx, version) {
      await endColumnAt(tx, at.table.id, version, column.id);
    },
  };
}
