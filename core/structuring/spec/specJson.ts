/** The ParseSpec as the contract writes it, and back: the same tables come out on either side. */

import { formatRange, nameColumn, parseColumn, parseRange } from '../../a1/address.ts';
import { formatColumnType, parseColumnType } from '../../cells/columnTypes.ts';
import { parsePeriod } from '../../period/period.ts';
import { type NamingLanguage, namingOf } from '../names/naming.ts';
import type { Finding } from './finding.ts';
import {
  type FileFormat,
  isTableRegion,
  type ParseSpec,
  type RegionKind,
  type RegionSummary,
  type SpecColumn,
  type SpecDecision,
  type SpecPeriod,
  type SpecRegion,
  type SpecTotal,
  type TotalKind,
} from './spec.ts';

export interface SpecJson {
  version: number;
  reader: { format: FileFormat; encoding?: EncodingJson | null; delimiter?: string | null };
  regions: RegionJson[];
  learned?: { sheet: string; corrected_at: string }[];
  findings?: Finding[];
  doubtful?: { sheet: string; reason: string }[];
}

type EncodingJson = 'utf-8' | 'utf-16le' | 'utf-16be' | 'shift_jis' | 'euc-jp';

export interface RegionJson {
  id: string;
  sheet: string;
  range: string;
  kind: RegionKind;
  /** Of the table it makes; null for what makes none. */
  name: string | null;
  /** The table that a title, note or form is about. */
  target?: string | null;
  header_rows: number[];
  data_range: string | null;
  orientation: 'rows' | 'columns';
  columns: { name: string; from: string; type: string; format?: string | null }[];
  periods?: { from: string; label: string; start?: string | null; measure?: string | null }[];
  totals?: { range: string; kind: TotalKind; formula?: string | null }[];
  selected: boolean;
  confidence?: number | null;
  decisions?: SpecDecision[];
}

const MAX_FORMULA_LENGTH = 1000;

export function toContract(spec: ParseSpec): SpecJson {
  const { format, encoding, delimiter } = spec.reader;
  return {
    version: spec.version,
    reader: {
      format,
      ...(encoding === undefined ? {} : { encoding: encoding as EncodingJson }),
      ...(delimiter === undefined ? {} : { delimiter }),
    },
    regions: spec.regions.map((region) => regionToContract(region, namingOf(spec).value)),
    ...(spec.learned && { learned: learnedToContract(spec.learned) }),
    ...(spec.findings && { findings: spec.findings }),
    ...(spec.doubtful && { doubtful: spec.doubtful }),
  };
}

export function learnedToContract(learned: NonNullable<ParseSpec['learned']>): NonNullable<SpecJson['learned']> {
  return learned.map(({ sheet, correctedAt }) => ({ sheet, corrected_at: correctedAt }));
}

type RegionInShort = Pick<RegionJson, 'id' | 'sheet' | 'range' | 'kind' | 'name' | 'selected' | 'confidence'>;

/** A region in short, as the contract writes it. */
export function summarizeRegion(region: RegionSummary): RegionInShort {
  const { id, sheet, range, kind, name, selected, confidence } = region;
  return { id, sheet, range, kind, name: isTableRegion(region) && name !== '' ? name : null, selected, confidence: confidence ?? null };
}

function regionToContract(region: SpecRegion, nameless: string): RegionJson {
  const { header_rows, data_range, orientation, columns, periods, totals, decisions } = region;
  return {
    ...summarizeRegion(region),
    ...(isTableRegion(region) ? {} : { target: region.name === '' ? null : region.name }),
    header_rows,
    data_range,
    orientation,
    columns,
    ...(periods && { periods: periods.map((period) => periodToContract(period, nameless)) }),
    ...(totals && { totals: totals.map((total) => totalToContract(region, total)) }),
    ...(decisions && { decisions }),
  };
}

function periodToContract({ from, label, start, measure }: SpecPeriod, nameless: string): NonNullable<RegionJson['periods']>[number] {
  return { from, label, start, measure: measure === nameless ? null : measure };
}

/** A row as wide as its region, a column as high as it. */
function totalToContract(region: SpecRegion, { at, kind, formula }: SpecTotal): NonNullable<RegionJson['totals']>[number] {
  const area = parseRange(region.range)!;
  const range = typeof at === 'number' ? { ...area, top: at, bottom: at } : { ...area, left: parseColumn(at), right: parseColumn(at) };
  const text = formula !== null && formula.length > MAX_FORMULA_LENGTH ? `${formula.slice(0, MAX_FORMULA_LENGTH - 1)}…` : formula;
  return { range: formatRange(range), kind, formula: text };
}

/**
 * Expects JSON that matches the contract; `validateSpec` checks whether it fits the file. The language of names is not in it, and
 * how sure the reading was is not taken from it.
 */
export function fromContract(json: SpecJson, naming?: NamingLanguage): ParseSpec {
  const { format, encoding, delimiter } = json.reader;
  return {
    version: json.version,
    reader: { format, ...(encoding ? { encoding } : {}), ...(delimiter ? { delimiter } : {}) },
    ...(naming ? { naming } : {}),
    regions: json.regions.map((region) => regionFromContract(region, namingOf({ naming }).value)),
  };
}

function regionFromContract(json: RegionJson, nameless: string): SpecRegion {
  const totals = json.totals?.flatMap((total) => totalsFromContract(json, total));
  const computed = new Set(totals?.map((total) => total.at));
  return {
    id: json.id,
    sheet: json.sheet,
    range: json.range,
    kind: json.kind,
    name: (isTableRegion(json) ? json.name : (json.target ?? json.name)) ?? '',
    header_rows: json.header_rows,
    data_range: json.data_range,
    orientation: 'rows',
    columns: json.columns.map(columnFromContract),
    ...(json.periods && { periods: json.periods.map((period) => periodFromContract(period, nameless, computed.has(period.from))) }),
    ...(totals && { totals }),
    selected: json.selected,
  };
}

function columnFromContract({ name, from, type, format }: RegionJson['columns'][number]): SpecColumn {
  const known = parseColumnType(type);
  return { name, from, type: known ? formatColumnType(known) : type, ...(format ? { format } : {}) };
}

function periodFromContract(
  { from, label, start, measure }: NonNullable<RegionJson['periods']>[number],
  nameless: string,
  computed: boolean,
): SpecPeriod {
  // Who names a column as a period need not say when it began.
  const first = start === undefined ? (parsePeriod(label)?.start ?? null) : start;
  return { from, label, start: first, measure: measure ?? nameless, ...(computed ? { computed } : {}) };
}

/** Several rows or columns may be given as one range. */
function totalsFromContract(region: RegionJson, json: NonNullable<RegionJson['totals']>[number]): SpecTotal[] {
  const [area, range] = [parseRange(region.range), parseRange(json.range)];
  if (!area || !range) return [];
  const asTotal = (at: number | string): SpecTotal => ({ at, kind: json.kind, formula: json.formula ?? null });
  // A range of one column is that column, unless the region has no other: then its cells are the rows.
  const isColumn = range.left === range.right && area.left !== area.right;
  if (isColumn) return [asTotal(nameColumn(range.left))];
  return Array.from({ length: range.bottom - range.top + 1 }, (_, k) => asTotal(range.top + k));
}

/** What people corrected in a spec. Regions that they left alone are as sure as they were; what they changed is their decision. */
export function applyCorrections(before: ParseSpec, json: SpecJson): ParseSpec {
  const corrected = fromContract(json, before.naming);
  const known = new Map(before.regions.map((region) => [region.id, region]));
  const regions = corrected.regions.map((region) => {
    const old = known.get(region.id);
    return old && isSameReading(old, region) ? { ...old, selected: region.selected } : region;
  });
  const isChanged = regions.length !== before.regions.length || regions.some((region, k) => region === corrected.regions[k]);
  return {
    ...corrected,
    regions,
    ...(isChanged || before.corrected ? { corrected: true } : {}),
    ...(before.learned && { learned: before.learned }),
  };
}

/** Compared as the contract writes them, which knows no more. */
function isSameReading(a: SpecRegion, b: SpecRegion): boolean {
  const write = ({ decisions: _, confidence: __, selected: ___, ...region }: SpecRegion) =>
    JSON.stringify(regionToContract({ ...region, selected: true }, ''));
  return write(a) === write(b);
}
