import fc from 'fast-check';
import type { ColumnRecord, Layer, TableAt, TableRecord } from '../../../core/table/table.ts';
import type { VisibleColumn } from '../../../core/table/visibleTable.ts';

const table: TableRecord = {
  id: 'tbl_1',
  workbookId: 'wb_1',
  accountId: 'acc_1',
  name: 'orders',
  type: 'table',
  layer: 'base',
  state: 'active',
  description: null,
  editVersion: 1,
  versionUid: 'ver_1',
  manifestId: 'mft_1',
  schemaVersion: 1,
  rowCount: 0,
  nextRowId: 1,
  nextColumnId: 1,
  tailCount: 0,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  deletedAt: null,
  policyVersion: 0,
};

export function makeColumn(id: number, name = `c${id}`, type = 'VARCHAR', defaultText: string | null = null): ColumnRecord {
  return { id, name, type, defaultText, description: null };
}

/** As somebody sees them from whom the values of some are hidden. */
export function showColumns(columns: ColumnRecord[], masked: number[] = []): VisibleColumn[] {
  return columns.map((column) => ({ ...column, masked: masked.includes(column.id) }));
}

/** A table that is in no database. */
export function makeAt(
  given: { editVersion?: number; schemaVersion?: number; columns?: ColumnRecord[]; layers?: Layer[]; table?: Partial<TableRecord> } = {},
): TableAt {
  const { editVersion = 1, schemaVersion = 1, columns = [], layers = [] } = given;
  const record = { ...table, editVersion, schemaVersion, ...given.table };
  const { versionUid, manifestId, rowCount } = record;
  return { table: record, editVersion, versionUid, manifestId, schemaVersion, rowCount, columns, layers };
}

export const anyCell = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: null });
