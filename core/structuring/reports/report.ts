/** What a report is: rows with levels, parents and the rows that they are computed from. */

import type { OutlineNode } from './outline.ts';
import type { Term } from './sums.ts';

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
