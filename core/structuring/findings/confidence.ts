/** How sure the reading of a region is, why, and what it would be otherwise. */

import { formatRange, parseColumn } from '../../a1/address.ts';
import { isTotalLabel } from '../names/words.ts';
import { readPairs } from '../regions/forms.ts';
import type { FoundTable } from '../regions/regions.ts';
import type { Report } from '../reports/report.ts';
import { readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import type { SpecDecision, SpecPeriod, SpecRegion } from '../spec/spec.ts';
import { CLOSE_CONFIDENCE, HEADER_WEIGHTS, LEVEL_SHARES, MARKED_SHARE, REGION_WEIGHTS, TOTAL_SHARES } from '../thresholds.ts';
import { type HeaderEvidence, type RegionEvidence, readHead, weighHeader, weighRegion } from './evidence.ts';

/** What the reading of a table rests on. */
export interface TableReading {
  table: FoundTable;
  others: FoundTable[];
  report: Report;
  periods: SpecPeriod[];
  /** Columns whose header reads as a period, and columns of figures. */
  periodColumns: number;
  /** Share of the cells under periods that hold something; 1 where the table is no calendar. */
  marked: number;
  valueColumns: number[];
  /** A row of the sheet by its number in what was looked at. */
  rowOf(row: number): number;
}

/** Adds the decisions about a table to its region. */
export function weighTable(view: SheetView, region: SpecRegion, reading: TableReading): void {
  const head = readHead(view, reading.table);
  const header = expandHeader(weighHeader(view, head), reading);
  decide(region, [
    decideRegion(header, expandRows(weighRegion(view, head, reading.others), reading), reading.others.length + 1),
    decideHeader(header),
    ...decideLevels(reading.report),
    ...decideTotals(reading),
    ...decideLongForm(reading),
  ]);
}

function expandHeader(header: HeaderEvidence, { rowOf }: TableReading): HeaderEvidence {
  const expand = (row: number | null) => (row === null ? null : rowOf(row));
  return { ...header, weakest: expand(header.weakest), firstData: expand(header.firstData), rowAbove: expand(header.rowAbove) };
}

function expandRows(region: RegionEvidence, { rowOf }: TableReading): RegionEvidence {
  const { kin, changeRow } = region;
  return {
    ...region,
    changeRow: changeRow === null ? null : rowOf(changeRow),
    kin: kin && { ...kin, top: rowOf(kin.top), bottom: rowOf(kin.bottom) },
  };
}

/** Adds the decision about a form to its region: its lines are pairs of a name and a value. */
export function weighForm(view: SheetView, region: SpecRegion, range: FoundTable['range']): void {
  const lines = readLines(view, range);
  const pairs = lines.filter((line) => readPairs(view, line)?.some((pair) => pair.values.length > 0)).length;
  const confidence = (pairs + 1) / (lines.length + 2);
  decide(region, [
    makeDecision(
      'kind',
      confidence,
      `${pairs} of ${countWords(lines.length, 'line')} are names with a value beside them`,
      'a table of names and values',
    ),
  ]);
}

function decide(region: SpecRegion, decisions: SpecDecision[]): void {
  region.decisions = decisions;
  region.confidence = Math.min(...decisions.map(({ confidence }) => confidence));
}

function makeDecision(about: SpecDecision['about'], confidence: number, reason: string, otherwise: string | null): SpecDecision {
  const rounded = Math.round(confidence * 100) / 100;
  return { about, confidence: rounded, reason, ...(otherwise !== null && rounded < CLOSE_CONFIDENCE ? { otherwise } : {}) };
}

/** Log odds below which nothing is said of what speaks against a reading. */
const WORTH_TELLING = 0.2;

/** Features with what they say in words: where they are better than usual, and where they are worse. */
type Feature = [value: number, forIt: string, against: string];

/** The reason is what moves the odds most from where they usually are: what speaks for the reading, and what against it. */
function weigh(features: Record<string, Feature>, weights: Record<string, [number, number]>): { confidence: number; reason: string } {
  let odds = weights.bias![0];
  let best = { moved: 0, words: '' };
  let worst = { moved: 0, words: '' };
  for (const [name, [value, forIt, against]] of Object.entries(features)) {
    const [weight, usual] = weights[name]!;
    odds += weight * value;
    const moved = weight * (value - usual);
    if (forIt !== '' && moved > best.moved) best = { moved, words: forIt };
    if (against !== '' && moved < Math.min(worst.moved, -WORTH_TELLING)) worst = { moved, words: against };
  }
  const reason = [best.words, worst.words].filter((words) => words !== '').join(', but ');
  return { confidence: 1 / (1 + Math.exp(-odds)), reason: reason === '' ? 'it looks as tables usually do' : reason };
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
const countWords = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function decideRegion(header: HeaderEvidence, region: RegionEvidence, tables: number): SpecDecision {
  const headless = header.rows === 0;
  const { confidence, reason } = weigh(
    {
      change: [region.change, '', `the columns change their types at row ${region.changeRow}`],
      gaps: [region.gaps, 'no blank row is inside', 'blank rows are inside'],
      density: [region.density, 'nearly all cells are filled', `only ${percent(region.density)} of its cells are filled`],
      narrow: [
        1 / Math.max(1, region.columns),
        `it is ${countWords(region.columns, 'column')} wide`,
        `it is only ${countWords(region.columns, 'column')} wide`,
      ],
      many: [Math.log2(tables), 'it is the only table of the sheet', `${tables} tables were found on the sheet`],
      header: [header.header, 'its header stands over figures', 'its header does not stand out from the data by type'],
      typed: [header.typed, '', ''],
      named: [header.named, 'its header names all columns', `its header names ${percent(header.named)} of the columns`],
      above: [header.above, '', `row ${header.rowAbove} right above it has texts for ${percent(header.above)} of the columns`],
      style: [header.style, '', ''],
      headless: [headless ? 1 : 0, '', 'it has no header'],
    },
    REGION_WEIGHTS,
  );
  const cut = region.changeRow === null ? null : `another table begins at row ${region.changeRow}`;
  const joined = region.kin === null ? null : `one table with ${formatRange(region.kin)}`;
  const otherwise = region.change >= region.kinship ? (cut ?? joined) : (joined ?? cut);
  return makeDecision('region', confidence, reason, otherwise);
}

function decideHeader(header: HeaderEvidence): SpecDecision {
  const headless = header.rows === 0;
  const { confidence, reason } = weigh(
    {
      header: [
        header.header,
        'names stand over figures',
        headless ? '' : `row ${header.weakest} does not differ in type from the rows below`,
      ],
      data: [header.data, `row ${header.firstData} holds values`, `row ${header.firstData} holds few values`],
      above: [header.above, '', `row ${header.rowAbove} right above has texts for ${percent(header.above)} of the columns`],
      style: [header.style, 'the header is set apart by its style', ''],
      named: [headless ? 0 : header.named, 'all columns are named', `${percent(header.named)} of the columns are named`],
      typed: [header.typed, '', ''],
      headless: [headless ? 1 : 0, '', 'no row reads as a header'],
    },
    HEADER_WEIGHTS,
  );
  return makeDecision('header_rows', confidence, reason, nextHeader(header));
}

/** The reading that the weakest vote leaves open. */
function nextHeader({ header, weakest, data, firstData, above, rowAbove }: HeaderEvidence): string | null {
  const readings: [margin: number, words: string][] = [];
  if (weakest !== null) readings.push([header, `row ${weakest} is data`]);
  if (firstData !== null) readings.push([data, `row ${firstData} is part of the header`]);
  if (rowAbove !== null) readings.push([1 - above, `row ${rowAbove} is part of the header`]);
  return readings.sort((a, b) => a[0] - b[0])[0]?.[1] ?? null;
}

/** A report has levels by what adds up, or only by how it is laid out. */
function decideLevels({ isReport, rows }: Report): SpecDecision[] {
  if (!isReport) return [];
  const outer = rows.filter(({ role, virtual }) => !virtual && role !== 'detail');
  const share = outer.filter(({ certain }) => certain).length / Math.max(1, outer.length);
  const reason = `${percent(share)} of ${countWords(outer.length, 'row')} above the details agree with what they sum, the others go by layout`;
  const confidence = share * LEVEL_SHARES.sums + (1 - share) * LEVEL_SHARES.layout;
  return [makeDecision('kind', confidence, reason, 'a plain table, whose levels are only layout')];
}

function decideTotals({ report: { rows, totalRows, computedRows }, rowOf }: TableReading): SpecDecision[] {
  const found = new Set([...totalRows, ...computedRows]);
  const totals = rows.filter(({ row, virtual }) => !virtual && found.has(row));
  if (totals.length === 0) return [];
  const sure = totals.filter(({ certain }) => certain);
  const shares = totals.map(({ certain, label, total }) => {
    const named = total || isTotalLabel(label);
    return named ? (certain ? TOTAL_SHARES.both : TOTAL_SHARES.word) : certain ? TOTAL_SHARES.figures : TOTAL_SHARES.neither;
  });
  const reason = `${sure.length} of ${totals.length} computed rows agree with a formula or a sum, the others go by their names`;
  const open = totals.filter(({ certain }) => !certain).slice(0, 5);
  const otherwise =
    open.length === 0 ? null : `${open.length === 1 ? 'row' : 'rows'} ${open.map(({ row }) => rowOf(row)).join(', ')}: details`;
  return [makeDecision('totals', shares.reduce((sum, share) => sum + share, 0) / shares.length, reason, otherwise)];
}

/** Where a part of the columns reads as periods, the table could be long or wide. */
function decideLongForm({ periods, periodColumns, marked, valueColumns }: TableReading): SpecDecision[] {
  if (periods.length > 0) {
    const used = new Set(periods.map(({ from }) => parseColumn(from)));
    const left = valueColumns.filter((column) => !used.has(column)).length;
    const confidence = (periods.length + 2) / (periods.length + 2.5 + left * 2);
    const reason = `${periods.length} columns are periods in order, ${countWords(left, 'column')} of figures belong to none`;
    return [makeDecision('long_form', confidence, reason, 'the periods stay columns')];
  }
  if (periodColumns < 2) return [];
  const otherwise = 'a row for each period';
  if (marked < MARKED_SHARE)
    return [makeDecision('long_form', 1 - marked / MARKED_SHARE / 2, `only ${percent(marked)} of the days hold something`, otherwise)];
  const columns = Math.max(valueColumns.length, periodColumns);
  const reason = `${periodColumns} of ${columns} columns read as periods, but they repeat, are out of order, or leave others over`;
  return [makeDecision('long_form', 1 - periodColumns / columns / 2, reason, otherwise)];
}
