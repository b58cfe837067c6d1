import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import type { Cells, ColumnRecord } from './table.ts';
import type { VisibleColumn } from './visibleTable.ts';

/** A row of a request as canonical text. */
export interface CastRow {
  /** Null: a new row. */
  rowId: number | null;
  cells: Cells;
  /** The ids of the columns that were given. */
  given: number[];
}

/** What became of a request: its rows, everything that is wrong with its cells, or the masked column that it would write. */
export type Casting<Fault> =
  | { kind: 'cast'; rows: CastRow[] }
  | { kind: 'faulty'; faults: Fault[] }
  | { kind: 'masked'; column: ColumnRecord };

/** Beyond so many, faults are not listed. */
export const mostFaults = 100;

export type TypedColumn = VisibleColumn & { parsed: ColumnType };

export function typeColumns(columns: VisibleColumn[]): TypedColumn[] {
  return columns.map((column) => ({ ...column, parsed: parseColumnType(column.type) as ColumnType }));
}
