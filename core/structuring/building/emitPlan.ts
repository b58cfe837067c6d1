/** What is written into an output table: the rows, the columns, and how their types are settled. */

import type { Naming } from '../names/naming.ts';
import type { SheetView } from '../sheet/sheet.ts';
import type { SpecColumn, SpecPeriod, SpecRegion } from '../spec/spec.ts';
import type { Ledger } from './ledger.ts';
import type { Misfit } from './output.ts';

/** One row to be written: texts put in front of the columns of the region, and the sheet row the rest comes from. */
export interface EmitRow {
  row: number;
  lead: { text: string | null; cell: number }[];
}

export interface EmitPlan {
  view: SheetView;
  ledger: Ledger;
  region: SpecRegion;
  /** Names of the lead columns, all text. */
  leadNames: string[];
  /** Columns of the region that are not in the lead. */
  columns: SpecColumn[];
  /** Cells that fill merged rows below their own. */
  filled: Map<number, number>;
  types: TypeRules;
  naming: Naming;
}

/** Rows to be written for some of the periods; without periods the rows alone. */
export interface EmitBatch {
  rows: EmitRow[];
  periods: SpecPeriod[];
}

export interface TypeRules {
  /** Somebody chose the types: a value that does not fit is reported, instead of changing the column's type. */
  binding: boolean;
  /** The first value of each column that does not fit. */
  misfits: Misfit[];
}
