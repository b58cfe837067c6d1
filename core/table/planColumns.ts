import { castValue, Refusal } from '../cells/castValue.ts';
import { type ColumnType, formatColumnType, parseColumnType, typeNames } from '../cells/columnTypes.ts';
import { type PlannedEdit, planColumnEdit } from './edit.ts';
import { findColumn } from './findColumn.ts';
import { findColumnNameFault } from './nameFaults.ts';
import type { ColumnRecord, TableAt } from './table.ts';

/** The number of columns of a spreadsheet. */
const mostColumns = 16_384;

export type NewColumn = Pick<ColumnRecord, 'id' | 'name' | 'type' | 'defaultText'>;

/** Why columns cannot be changed. */
export type ColumnRefusal =
  | { kind: 'bad-name'; why: string }
  | { kind: 'name-taken'; name: string }
  | { kind: 'too-many'; most: number }
  | { kind: 'bad-default'; why: string }
  | { kind: 'last-column' };

/** Null: the name is allowed. `others` includes denied columns. */
function refuseName(name: string, others: ColumnRecord[]): ColumnRefusal | null {
  const why = findColumnNameFault(name);
  if (why) return { kind: 'bad-name', why };
  return findColumn(others, name) ? { kind: 'name-taken', name } : null;
}

/** Stored once, but shown in every row. */
const longestDefault = 32_767;

/** Adds a column at the end. Existing rows read as its default; nothing is rewritten. */
export function planAddColumn(
  at: TableAt,
  wanted: { name: string; type: ColumnType; default: unknown },
): { kind: 'planned'; column: NewColumn; plan: PlannedEdit } | ColumnRefusal {
  const { name } = wanted;
  const refusal = refuseName(name, at.columns);
  if (refusal) return refusal;
  if (at.columns.length >= mostColumns) return { kind: 'too-many', most: mostColumns };
  const defaultText = castValue(wanted.type, wanted.default);
  if (defaultText instanceof Refusal) return { kind: 'bad-default', why: defaultText.why };
  if ((defaultText?.length ?? 0) > longestDefault) return { kind: 'bad-default', why: `has more than ${longestDefault} characters` };
  const column = { id: at.table.nextColumnId, name, type: formatColumnType(wanted.type), defaultText };
  return { kind: 'planned', column, plan: planColumnEdit('column.add', column.id) };
}

/** The id stays, so stored data and references by id remain valid. */
export function planRenameColumn(
  at: TableAt,
  column: ColumnRecord,
  name: string,
): { kind: 'planned'; name: string; plan: PlannedEdit } | ColumnRefusal {
  const refusal = refuseName(
    name,
    at.columns.filter((each) => each.id !== column.id),
  );
  return refusal ?? { kind: 'planned', name, plan: planColumnEdit('column.rename', column.id) };
}

/** The id is retired. Its values remain stored for older versions. */
export function planDropColumn(at: TableAt, column: ColumnRecord): { kind: 'planned'; plan: PlannedEdit } | ColumnRefusal {
  if (at.columns.length === 1) return { kind: 'last-column' };
  return { kind: 'planned', plan: planColumnEdit('column.drop', column.id) };
}

/** What is wrong with a column of a new table. */
export interface ColumnFault {
  /** Position of the column in the request. */
  column: number;
  member: 'name' | 'type';
  why: string;
}

/** Returns the columns of a new table with normalised names and types, or everything that is wrong with them. */
export function checkNewColumns(
  columns: { name: string; type?: string }[],
): { kind: 'checked'; columns: { name: string; type: string }[] } | { kind: 'faulty'; faults: ColumnFault[] } {
  const faults: ColumnFault[] = [];
  const seen = new Set<string>();
  const checked = columns.map((wanted, column) => {
    const fail = (member: ColumnFault['member'], why: string) => faults.push({ column, member, why });
    const { name } = wanted;
    const type = parseColumnType(wanted.type ?? 'VARCHAR');
    const why = findColumnNameFault(name);
    if (why) fail('name', why);
    if (seen.has(name.toLowerCase())) fail('name', 'stands there twice (case does not count)');
    seen.add(name.toLowerCase());
    if (!type) fail('type', unknownType);
    return { name, type: type ? formatColumnType(type) : '' };
  });
  return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'checked', columns: checked };
}

export const unknownType = `is not one of ${typeNames.join(', ')}`;
