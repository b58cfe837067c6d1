import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import type { Cells, ColumnRecord } from './table.ts';
import type { VisibleColumn } from './visibleTable.ts';

/** A row of a request as canonical text. */
export interface CastRow {
  /** Null for a new row. */
  rowId: number | null;
  cells: Cells;
  /** Ids of the columns that the request gave. */
  given: number[];
}

/** The rows, or all that is wrong with their cells, or the masked column that the request tried to write. */
export type Casting<Fault> =
  | { kind: 'cast'; rows: CastRow[] }
  | { kind: 'faulty'; faults: Fault[] }
  | { kind: 'masked'; column: ColumnRecord };

/** Further faults are not listed. */
export const maxFaults = 100;

export type TypedColumn = VisibleColumn & { parsed: ColumnType };

export function typeColumns(columns: VisibleColumn[]): TypedColumn[] {
  return columns.map((column) => ({ ...column, parsed: parseColumnType(column.type) as ColumnType }));
}
