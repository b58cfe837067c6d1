import type { ColumnRecord, TableAt, TableVersion } from './table.ts';
import { rowIdColumn } from './table.ts';

/** What a policy does to a column: `mask` shows its values as null, `deny` hides the column. */
export type ColumnEffect = 'mask' | 'deny';

export interface VisibleColumn extends ColumnRecord {
  /** The column is listed but reads as null and cannot be written. */
  masked: boolean;
}

/** The columns of a table that somebody may see. */
export interface VisibleColumns {
  /** In order, without denied columns. */
  columns: VisibleColumn[];
  /** Effects of the policies by column id; empty if nothing is hidden. */
  effects: ReadonlyMap<number, ColumnEffect>;
}

/** A table at one version, as somebody may see it. Every reader takes this and reads no stored column outside `columns`. */
export interface VisibleTable extends VisibleColumns {
  at: TableVersion;
}

export function seeColumns(columns: ColumnRecord[], effects: ReadonlyMap<number, ColumnEffect>): VisibleColumns {
  const shown = effects.size === 0 ? columns : columns.filter(({ id }) => effects.get(id) !== 'deny');
  return { columns: shown.map((column) => ({ ...column, masked: effects.get(column.id) === 'mask' })), effects };
}

export function seeTable(at: TableAt, effects: ReadonlyMap<number, ColumnEffect>): VisibleTable {
  return { at, ...seeColumns(at.columns, effects) };
}

/** For the service's own work: compaction, retypes and edits need everything that is stored. */
export function seeEverything(at: TableAt): VisibleTable {
  return seeTable(at, new Map());
}

/** The row id as a column, placed after the table's columns. */
export const rowIdField: VisibleColumn = {
  id: 0,
  name: rowIdColumn,
  type: 'BIGINT',
  defaultText: null,
  description: null,
  masked: false,
};
