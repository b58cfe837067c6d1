/** Analysis: proposes the regions of every sheet as a ParseSpec. */

import { formatRange, nameColumn, parseColumn, parseRange } from '../a1/address.ts';
import type { Grid, Range } from '../grid/grid.ts';
import { formatOf } from './building/typing.ts';
import { weighForm, weighTable } from './findings/confidence.ts';
import { type HeaderColumn, nameColumns, readHeaderColumns } from './headers/columnNames.ts';
import { baseOfFile, NameRegistry } from './names/names.ts';
import { hasJapanese, type Naming, type NamingLanguage, namingOf } from './names/naming.ts';
import { isNoteStart, isPlainTitle, isSubtotalLabel, isUnitLine } from './names/words.ts';
import { countPeriods, findPeriods } from './periods/periods.ts';
import { type FoundBlock, type FoundTable, type FoundText, findBlocks } from './regions/regions.ts';
import { expressionOf } from './reports/expression.ts';
import { readReport } from './reports/hierarchy.ts';
import type { Report } from './reports/report.ts';
import { readTableRows } from './reports/tableRows.ts';
import { listTotalColumns } from './reports/totalColumns.ts';
import { dropBlankTexts } from './sheet/blanks.ts';
import { inferCells } from './sheet/columnValues.ts';
import { type Condensed, condense } from './sheet/condense.ts';
import { SheetView } from './sheet/sheet.ts';
import { openSumBudget } from './sheet/sumBudget.ts';
import {
  type FileFormat,
  type ParseSpec,
  SPEC_VERSION,
  type SpecColumn,
  type SpecPeriod,
  type SpecRegion,
  type SpecTotal,
} from './spec/spec.ts';
import { MARKED_SHARE, MAX_SPARSE_PERIODS } from './thresholds.ts';

/** The names that are made up are in `language`. */
export function analyze(grids: Grid[], fileName: string, language: NamingLanguage = 'ja'): ParseSpec {
  const naming = namingOf({ naming: language });
  const format = formatOfFile(fileName);
  const sums = openSumBudget();
  const sheets = grids.map((grid) => {
    const whole = dropBlankTexts(grid).grid;
    const short = condense(whole);
    const view = new SheetView(short?.grid ?? whole, sums);
    const header = format === 'xlsx' ? null : findLoneHeader(view);
    return { view, whole, short, blocks: header ? [header] : findBlocks(view) };
  });
  const names = nameTables(sheets, fileName);
  const regions: SpecRegion[] = [];
  for (const { view, whole, short, blocks } of sheets) {
    const before = regions.length;
    const context = { naming, tables: blocks.flatMap(({ table }) => table ?? []), rowOf: short?.originalRow ?? ((row: number) => row) };
    for (const [k, block] of blocks.entries())
      regions.push(...describeBlock(view, block, names.get(block) ?? '', names.get(nextTable(blocks, k)) ?? '', context));
    if (short) for (const region of regions.slice(before)) expandRegion(region, short, whole);
    const own = regions.splice(before).sort((a, b) => compareRanges(a, b));
    own.forEach((region, n) => {
      // Ids do not contain sheet names, which can be long.
      region.id = `r${before + n + 1}`;
      regions.push(region);
    });
  }
  return { version: SPEC_VERSION, reader: { format }, ...(language === 'ja' ? {} : { naming: language }), regions };
}

/** Says of the whole sheet what was found in its short form. Types come from all rows. */
export function expandRegion(region: SpecRegion, { originalRow }: Condensed, whole: Grid): void {
  const expand = (text: string): string => {
    const range = parseRange(text)!;
    return formatRange({ ...range, top: originalRow(range.top), bottom: originalRow(range.bottom) });
  };
  region.range = expand(region.range);
  region.header_rows = region.header_rows.map(originalRow);
  if (region.data_range === null) return;
  region.data_range = expand(region.data_range);
  if (region.totals)
    region.totals = region.totals.map((total) => (typeof total.at === 'number' ? { ...total, at: originalRow(total.at) } : total));
  const computed = new Set(region.totals?.map(({ at }) => at));
  const { top, bottom } = parseRange(region.data_range)!;
  const cells = new Map<number, number[]>(region.columns.map(({ from }) => [parseColumn(from), []]));
  for (let i = 0; i < whole.size; i += 1) {
    const row = whole.rows[i]!;
    if (row >= top && row <= bottom && !computed.has(row)) cells.get(whole.columns[i]!)?.push(i);
  }
  typeColumns(whole, region.columns, cells);
}

/** Delimited text goes by csv or tsv; every workbook is read alike, macros or not. */
function formatOfFile(fileName: string): FileFormat {
  const extension = /\.([A-Za-z0-9]{1,5})$/.exec(fileName)?.[1]?.toLowerCase();
  if (extension === 'tsv') return 'tsv';
  return extension === 'csv' || extension === 'txt' ? 'csv' : 'xlsx';
}

/** Regions are listed as people read: from the top, then from the left. */
function compareRanges(a: SpecRegion, b: SpecRegion): number {
  const place = (region: SpecRegion) => /^([A-Z]+)(\d+)/.exec(region.range)!;
  const [pa, pb] = [place(a), place(b)];
  return Number(pa[2]) - Number(pb[2]) || pa[1]!.length - pb[1]!.length || (pa[1]! < pb[1]! ? -1 : pa[1]! > pb[1]! ? 1 : 0);
}

/** The one line of a text file is its header if it holds words only: an empty table, as exports without records are. */
function findLoneHeader(view: SheetView): FoundBlock | null {
  const { used } = view;
  if (!used || view.rows.length !== 1) return null;
  for (let i = 0; i < view.grid.size; i += 1) if (!view.isText(i)) return null;
  const table = { range: used, headerRows: [used.top], firstDataRow: used.top + 1 };
  return { range: used, table, form: [], above: [], below: [], separated: false };
}

/** A block that holds only texts belongs to the table below it. */
function nextTable(blocks: FoundBlock[], k: number): FoundBlock {
  const own = blocks[k]!;
  if (own.table) return own;
  return (
    blocks.find(
      (block) =>
        block.table && block.range.top > own.range.bottom && block.range.left <= own.range.right && own.range.left <= block.range.right,
    ) ?? own
  );
}

function nameTables(sheets: { view: SheetView; blocks: FoundBlock[] }[], fileName: string): Map<FoundBlock, string> {
  const file = baseOfFile(fileName);
  const bare = sheets.filter(({ blocks }) => isBare(blocks));
  const registry = new NameRegistry();
  const names = new Map<FoundBlock, string>();
  for (const { view, blocks } of sheets) {
    for (const block of blocks) {
      if (!block.table) continue;
      const wanted = isBare(blocks) ? (bare.length === 1 ? file : `${file}_${view.grid.sheet}`) : (titleOf(view, block) ?? view.grid.sheet);
      names.set(block, registry.claim(wanted, view.grid.sheet));
    }
  }
  return names;
}

/** One table with nothing around it. */
function isBare(blocks: FoundBlock[]): boolean {
  return (
    blocks.length === 1 && blocks[0]!.table !== null && blocks[0]!.above.length + blocks[0]!.below.length + blocks[0]!.form.length === 0
  );
}

/** The nearest line above the table that reads as a title; units, dates and remarks do not name anything. */
function titleOf(view: SheetView, block: FoundBlock): string | null {
  if (block.separated) return null;
  for (let k = block.above.length - 1; k >= 0; k -= 1) {
    const text = view.label(block.above[k]!.from);
    if (view.isText(block.above[k]!.from) && !isUnitLine(text) && !isNoteStart(text) && isPlainTitle(text)) return text;
  }
  return null;
}

interface SheetContext {
  naming: Naming;
  /** All tables of the sheet. */
  tables: FoundTable[];
  /** A row of the sheet by its number in the short form that is looked at. */
  rowOf(row: number): number;
}

function describeBlock(view: SheetView, block: FoundBlock, name: string, target: string, context: SheetContext): SpecRegion[] {
  const regions: SpecRegion[] = [];
  for (const text of block.above) regions.push(describeText(view, text, true, target));
  for (const form of block.form) {
    const region = makeRegion(view, 'form', form.range, target);
    weighForm(view, region, form.range);
    regions.push(region);
  }
  if (block.table) regions.push(describeTable(view, block.table, name, context));
  for (const text of block.below) regions.push(describeText(view, text, false, name));
  return regions;
}

function makeRegion(view: SheetView, kind: SpecRegion['kind'], range: Range, name: string): SpecRegion {
  return {
    id: '',
    sheet: view.grid.sheet,
    range: formatRange(range),
    kind,
    name,
    header_rows: [],
    data_range: null,
    orientation: 'rows',
    columns: [],
    selected: kind === 'data',
  };
}

function describeText(view: SheetView, text: FoundText, above: boolean, target: string): SpecRegion {
  const shown = view.label(text.from);
  const isNote = !above || isUnitLine(shown) || isNoteStart(shown);
  return makeRegion(view, isNote ? 'note' : 'title', text.range, target);
}

/** A table at a known place: its columns, periods and totals. */
export function describeTable(view: SheetView, table: FoundTable, name: string, { naming, tables, rowOf }: SheetContext): SpecRegion {
  const columns = readHeaderColumns(view, table.range, table.headerRows, table.firstDataRow);
  const rows = readTableRows(view, table.range, table.firstDataRow);
  const report = readReport(view, rows, listTotalColumns(columns));
  const labels = new Set(rows.labelColumns);
  const names = nameColumns(columns, (position) => labels.has(columns[position]!.column), naming);
  const values = new Set(rows.valueColumns);
  // The labels of a report stay labels, even where their header reads as a period.
  const measured = report.isReport ? columns.filter((column) => !labels.has(column.column)) : columns;
  const found = findPeriods(measured, (column) => values.has(column), isJapanese(view), naming.value);
  const marked = shareMarked(view, found, rows.spans);
  const periods = marked < MARKED_SHARE ? [] : found;
  const region = makeRegion(view, report.isReport ? 'report' : 'data', table.range, name);
  region.header_rows = table.headerRows;
  region.data_range = rows.rows.length > 0 ? formatRange({ ...table.range, top: table.firstDataRow }) : null;
  region.columns = describeColumns(view, columns, names, rows.spans, new Set(report.isReport ? [] : report.computedRows), rows.rows);
  if (periods.length > 0) region.periods = periods;
  const totals = [...describeTotalRows(report), ...describeTotalColumns(periods)];
  if (totals.length > 0) region.totals = totals;
  weighTable(view, region, {
    table,
    others: tables.filter((other) => other !== table),
    report,
    periods,
    periodColumns: countPeriods(measured, isJapanese(view)),
    marked,
    valueColumns: rows.valueColumns,
    rowOf,
  });
  return region;
}

/**
 * Share of the cells under many days that hold something, 1 where there are not many days. With few marks, as in a gantt chart, a row
 * for each day of each task would say nothing.
 */
function shareMarked(view: SheetView, periods: SpecPeriod[], spans: [number, number][]): number {
  if (periods.length <= MAX_SPARSE_PERIODS || spans.length === 0) return 1;
  const columns = new Set(periods.map(({ from }) => parseColumn(from)));
  let filled = 0;
  for (const [from, to] of spans) for (let i = from; i < to; i += 1) if (columns.has(view.grid.columns[i]!)) filled += 1;
  return filled / (spans.length * periods.length);
}

function describeTotalRows(report: Report): SpecTotal[] {
  const sums = new Set(report.totalRows);
  const computed = new Set(report.computedRows);
  const seen = new Set<number>();
  const totals: SpecTotal[] = [];
  for (const row of report.rows) {
    // Several nodes may come from the labels of one row.
    if (seen.has(row.row) || (!sums.has(row.row) && !computed.has(row.row))) continue;
    seen.add(row.row);
    const kind = !sums.has(row.row) ? 'computed' : row.parent < 0 && !isSubtotalLabel(row.label) ? 'total' : 'subtotal';
    totals.push({ at: row.row, kind, formula: expressionOf(report.rows, row) });
  }
  return totals;
}

function describeTotalColumns(periods: SpecPeriod[]): SpecTotal[] {
  return periods.flatMap((period) => (period.computed ? [{ at: period.from, kind: 'total' as const, formula: null }] : []));
}

/** Types come from the details: a computed row may hold a word where the column holds dates. */
function describeColumns(
  view: SheetView,
  columns: HeaderColumn[],
  names: string[],
  spans: [number, number][],
  computed: Set<number>,
  rows: number[],
): SpecColumn[] {
  const cells = new Map<number, number[]>(columns.map((column) => [column.column, []]));
  spans.forEach(([from, to], k) => {
    if (computed.has(rows[k]!)) return;
    for (let i = from; i < to; i += 1) cells.get(view.grid.columns[i]!)?.push(i);
  });
  const described = columns.map((column, k): SpecColumn => ({ name: names[k]!, from: nameColumn(column.column), type: 'VARCHAR' }));
  typeColumns(view.grid, described, cells);
  return described;
}

function typeColumns(grid: Grid, columns: SpecColumn[], cells: Map<number, number[]>): void {
  const inferred = columns.map(({ from }) => inferCells(grid, cells.get(parseColumn(from))!));
  // Beside a column with decimal commas, `1.234` is more likely 1234, but that would be a guess: it stays text.
  const isEuropean = inferred.some(({ decimalComma }) => decimalComma);
  columns.forEach((column, k) => {
    const own = inferred[k]!;
    column.type = isEuropean && own.openMark ? 'VARCHAR' : own.type;
    const format = formatOf(own);
    if (format === null) delete column.format;
    else column.format = format;
  });
}

/** Judged by the first texts of the sheet. */
function isJapanese(view: SheetView): boolean {
  return hasJapanese(view.grid.sheet) || view.grid.strings.slice(0, 500).some(hasJapanese);
}
