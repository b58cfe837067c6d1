import type { Principal } from '../../core/access/principal.ts';
import { planAddColumn, planDropColumn, planRenameColumn } from '../../core/table/planColumns.ts';
import { addColumnAt, endColumnAt, renameColumnAt } from '../../store/pg/columns.ts';
import type { Services } from '../../store/services.ts';
import { type ColumnRequest, openForColumns, type PreparedColumnChange, requireColumn } from './openColumn.ts';
import { describeColumnRefusal, requireColumnType } from './refuseColumn.ts';

export async function prepareAddColumn(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
  wanted: { column: string; type?: string; default?: unknown },
): Promise<PreparedColumnChange> {
  const type = requireColumnType(wanted.type ?? 'VARCHAR');
  const { at } = await openForColumns(services, principal, request);
  const planned = planAddColumn(at, { name: wanted.column, type, default: wanted.default });
  if (planned.kind !== 'planned') throw describeColumnRefusal(planned, '/column');
  const { column, plan } = planned;
  return {
    at,
    plan,
    column: column.name,
    type: column.type,
    columns: [...at.columns, { ...column, description: null }],
    change: (tx, version) => addColumnAt(tx, at.table.id, version, column),
  };
}

export async function prepareRenameColumn(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
  columnName: string,
  newName: string,
): Promise<PreparedColumnChange> {
  const { at, visible } = await openForColumns(services, principal, request);
  const column = requireColumn(visible, columnName);
  const planned = planRenameColumn(at, column, newName);
  if (planned.kind !== 'planned') throw describeColumnRefusal(planned, '/new_name');
  const { name, plan } = planned;
  return {
    at,
    plan,
    column: name,
    type: column.type,
    columns: at.columns.map((each) => (each.id === column.id ? { ...each, name } : each)),
    change: (tx, version) => renameColumnAt(tx, at.table.id, version, column.id, name),
  };
}

export async function prepareDropColumn(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
  columnName: string,
): Promise<PreparedColumnChange> {
  const { at, visible } = await openForColumns(services, principal, request);
  const column = requireColumn(visible, columnName);
  const planned = planDropColumn(at, column);
  if (planned.kind !== 'planned') throw describeColumnRefusal(planned, '');
  return {
    at,
    plan: planned.plan,
    column: column.name,
    type: null,
    columns: at.columns.filter(({ id }) => id !== column.id),
    async change(tx, version) {
      await endColumnAt(tx, at.table.id, version, column.id);
    },
  };
}
