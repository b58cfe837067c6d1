/** The ParseSpec: what analysis proposes, what people may correct, and what building follows. */

import type { RecordFormat } from '../../records/records.ts';
import type { NamingLanguage } from '../names/naming.ts';
import type { Finding } from './finding.ts';

export type RegionKind = 'data' | 'report' | 'form' | 'title' | 'note';

export interface SpecColumn {
  name: string;
  /** Letters of the sheet column. */
  from: string;
  /** Canonical name of any type a table may have; analysis proposes the plain ones. */
  type: string;
  /** `DD/MM/YYYY` or `MM/DD/YYYY` where a column writes its dates so, `#.##0,00` where it writes a comma before decimals. */
  format?: string;
}

export interface SpecPeriod {
  from: string;
  /** As written, with the parent header: `2023年度_4月`. */
  label: string;
  start: string | null;
  /** Name of the measure this column holds; a made-up one (`値`, `value`) when the header names none. */
  measure: string;
  /** A total over periods: it goes to the computed items. */
  computed?: boolean;
}

export type TotalKind = 'subtotal' | 'total' | 'computed';

/** A row or column of the sheet that is computed: by a sum, or, for `computed`, in another way. */
export interface SpecTotal {
  /** A sheet row, or the letters of a column. */
  at: number | string;
  kind: TotalKind;
  /** In the labels of the table: `売上高 - 売上原価`. */
  formula: string | null;
}

/** A decision that could have gone otherwise. */
export interface SpecDecision {
  about: 'region' | 'header_rows' | 'kind' | 'totals' | 'long_form';
  /** From 0 to 1: how often readings with such evidence are right. */
  confidence: number;
  reason: string;
  /** The next best reading, where it is close. */
  otherwise?: string;
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
  /** Rows in sheet order, then columns. */
  totals?: SpecTotal[];
  /** Whether the region is built when no region ids are given. `build` ignores it and builds everything. */
  selected: boolean;
  /** Of the least sure decision; absent where nothing was decided, and where people did. */
  confidence?: number;
  decisions?: SpecDecision[];
}

/** What tells regions apart. */
export type RegionSummary = Pick<SpecRegion, 'id' | 'sheet' | 'range' | 'kind' | 'name' | 'selected' | 'confidence'>;

export type FileFormat = 'xlsx' | 'csv' | 'tsv' | RecordFormat;

export interface ParseSpec {
  version: number;
  reader: { format: FileFormat; encoding?: string; delimiter?: string };
  /** The language of the names that were made up. */
  naming?: NamingLanguage;
  regions: SpecRegion[];
  /** Somebody changed what was proposed. */
  corrected?: boolean;
  /** Sheets that are read as one of the same layout was corrected, and when that was. */
  learned?: { sheet: string; correctedAt: string }[];
  /** What was found while the tables were made; absent for what was only analyzed or corrected. */
  findings?: Finding[];
  /** Sheets that people should look at, and why. */
  doubtful?: { sheet: string; reason: string }[];
}

export const SPEC_VERSION = 1;

export function isTableRegion(region: { kind: RegionKind }): boolean {
  return region.kind === 'data' || region.kind === 'report';
}
