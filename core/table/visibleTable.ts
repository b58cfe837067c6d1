import type { ColumnRecord, TableAt, TableVersion } from './table.ts';
import { rowIdColumn } from './table.ts';

/** What a policy does to a column: its values are shown as null, or it is not shown at all. */
export type ColumnEffect = 'mask' | 'deny';

export interface VisibleColumn extends ColumnRecord {
  /** The column is there, but reads as null and cannot be written. */
  masked: boolean;
}

/** What somebody may see of a table's columns. */
export interface VisibleColumns {
  /** In order; denied ones are absent. */
  columns: VisibleColumn[];
  /** What the policies do, by column id. Empty when nothing is hidden. */
  effects: ReadonlyMap<number, ColumnEffect>;
}

/**
 * A table at one version, as somebody may see it. Every reader of a table takes this: it names no stored column beside those
 * in `columns`.
 */
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

/** For the service itself: compaction, retypes and edits read what is stored, whoever asked for them. */
export function seeEverything(at: TableAt): VisibleTable {
  return seeTable(at, new Map());
}

/** The row's id as a column, after those of the table. */
export const rowIdField: VisibleColumn = {
  id: 0,
  name: rowIdColumn,
  type: 'BIGINT',
  defaultText: null,
  description: null,
  masked: false,
};
