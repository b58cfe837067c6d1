/** What a report is: rows with levels, parents and the rows that they are computed from. */

import type { SheetView } from '../sheet/sheet.ts';
import type { OutlineNode } from './outline.ts';
import type { Term } from './sums.ts';
import type { TableRows } from './tableRows.ts';

type ReportRole = 'detail' | 'parent' | 'group' | 'subtotal' | 'computed';

export interface ReportRow extends OutlineNode {
  level: number;
  role: ReportRole;
  /** Rows it is computed from, as positions in the report. */
  terms: Term[];
  /** The numbers or a formula bear the terms out. */
  certain: boolean;
}

export interface Report {
  rows: ReportRow[];
  isReport: boolean;
  /** Sheet rows of totals and subtotals, without differences and averages. */
  totalRows: number[];
  /** Sheet rows that are computed, to be kept apart from the details. */
  computedRows: number[];
}

/** What is known of a table while its computed rows are looked for. */
export interface ReportWork {
  view: SheetView;
  table: TableRows;
  rows: ReportRow[];
  /** Position in the report of each sheet row. */
  positions: Map<number, number>;
  valueColumns: Set<number>;
  grandTries: number;
  bareTries: number;
  /** Labels that stand on several rows: what repeats is a key of a list, and no result. */
  repeated: Set<string>;
  /** Rows of a list are records: nothing but a formula or a word makes one of them a result. */
  isList: boolean;
}

/** Figures of its own that nothing has explained yet. */
export function isOpen(row: ReportRow): boolean {
  return !row.virtual && row.hasValues && !row.certain && row.role === 'detail';
}
