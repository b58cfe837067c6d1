import type { Principal } from '../../core/access/principal.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import type { PlannedEdit } from '../../core/table/edit.ts';
import { findColumn } from '../../core/table/findColumn.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { EditedTable } from '../../store/pg/tableEdits.ts';
import { holdTags } from '../../store/pg/tagFlows.ts';
import type { Services } from '../../store/services.ts';
import { requireExpected } from '../rows/checkVersion.ts';
import { applyEdit, requireEditable } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { findBroken } from '../transforms/findBroken.ts';

export interface ColumnRequest {
  workbookId: string;
  name: string;
  expectedVersion: number | null;
}

/** A planned change of columns. */
export interface PreparedColumnChange {
  at: TableAt;
  plan: PlannedEdit;
  /** Name and type after the change; no type for a dropped column. */
  column: string;
  type: string | null;
  /** All columns after the change. */
  columns: ColumnRecord[];
  /** Runs in the transaction, once the new version's number is known. */
  change(tx: Tx, version: number): Promise<void>;
}

/** A change of columns with the names of the transforms that it breaks. */
export interface BreakingChange extends PreparedColumnChange {
  broken: string[];
}

export async function tellBroken(services: Services, principal: Principal, change: PreparedColumnChange): Promise<BreakingChange> {
  return { ...change, broken: await findBroken(services, principal.userId, change.at, change.columns) };
}

/** Applies the edit and the change of columns in one transaction. */
export async function applyColumnChange(tx: Tx, prepared: PreparedColumnChange): Promise<EditedTable> {
  await holdTags(tx, prepared.at.table.workbookId, prepared.at.table.policyVersion);
  const edited = await applyEdit(tx, prepared.at, prepared.plan);
  await prepared.change(tx, edited.editVersion);
  return edited;
}

export async function openForColumns(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
): Promise<{ at: TableAt; visible: VisibleColumn[] }> {
  const at = await requireTable(services, request.workbookId, request.name);
  requireEditable(at);
  return { at, visible: await requireExpected(services, principal, at, request.expectedVersion) };
}

/** The column with this name, or a 404 that suggests the nearest name. */
export function requireVisibleColumn<Column extends ColumnRecord>(visible: Column[], name: string): Column {
  const column = findColumn(visible, name);
  if (column) return column;
  const near = nearestName(
    name,
    visible.map((each) => each.name),
  );
  throw notFound('column in this table', near ? `Did you mean ${near}?` : 'GET …/columns lists the columns.');
}

/** The same, but refuses masked columns. */
export function requireColumn(visible: VisibleColumn[], name: string): VisibleColumn {
  const column = requireVisibleColumn(visible, name);
  if (column.masked)
    throw new DomainError(
      'insufficient-role',
      `The column ${column.name} is masked for you and cannot be changed.`,
      'Ask for a role that may see it.',
    );
  return column;
}
