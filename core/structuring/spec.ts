/** The ParseSpec: what analysis proposes, what people may correct, and what building follows. */

import type { ColumnType } from '../types/infer.ts';

export type RegionKind = 'data' | 'report' | 'form' | 'title' | 'note';

export interface SpecColumn {
  name: string;
  /** Letters of the sheet column. */
  from: string;
  type: ColumnType;
  /** `DD/MM/YYYY` or `MM/DD/YYYY` where a column writes its dates so. */
  format?: string;
}

export interface SpecPeriod {
  from: string;
  /** As written, with the parent header: `2023年度_4月`. */
  label: string;
  start: string | null;
  /** Name of the measure this column holds; `値` when the header names none. */
  measure: string;
  /** A total over periods: it goes to the computed items. */
  computed?: boolean;
}

export interface SpecRegion {
  id: string;
  sheet: string;
  range: string;
  kind: RegionKind;
  /** Table name for data and reports; the table a title, note or form belongs to, or empty. */
  name: string;
  header_rows: number[];
  data_range: string | null;
  /** Records run down the rows; the only orientation proposed today. */
  orientation: 'rows';
  columns: SpecColumn[];
  periods?: SpecPeriod[];
  /** Sheet rows and columns that sum others; `computed` are rows that are computed without being sums. */
  totals?: { rows: number[]; computed: number[]; columns: string[] };
  selected: boolean;
}

export interface ParseSpec {
  version: number;
  reader: { format: string; encoding?: string; delimiter?: string };
  regions: SpecRegion[];
}

export const SPEC_VERSION = 1;

export function isTableRegion(region: SpecRegion): boolean {
  return region.kind === 'data' || region.kind === 'report';
}
