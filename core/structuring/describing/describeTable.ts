/** A table at a known place as a region of the ParseSpec: its columns, periods and totals. */

import { formatRange, nameColumn, parseColumn, parseRange } from '../../a1/address.ts';
import type { Grid, Range } from '../../grid/grid.ts';
import { formatOf } from '../building/typing.ts';
import { weighTable } from '../findings/confidence.ts';
import { type HeaderColumn, nameColumns, readHeaderColumns } from '../headers/columnNames.ts';
import { hasJapanese, type Naming } from '../names/naming.ts';
import { isSubtotalLabel } from '../names/words.ts';
import { areDays, findMonthAbove } from '../periods/monthAbove.ts';
import { countPeriods, findPeriods } from '../periods/periods.ts';
import type { FoundTable } from '../regions/regions.ts';
import { expressionOf } from '../reports/expression.ts';
import { readReport } from '../reports/hierarchy.ts';
import type { Report } from '../reports/report.ts';
import { findSections } from '../reports/sections.ts';
import { readTableRows } from '../reports/tableRows.ts';
import { listTotalColumns } from '../reports/totalColumns.ts';
import { inferCells } from '../sheet/columnValues.ts';
import type { Condensed } from '../sheet/condense.ts';
import type { SheetView } from '../sheet/sheet.ts';
import type { SpecColumn, SpecPeriod, SpecRegion, SpecTotal } from '../spec/spec.ts';
import { MARKED_SHARE, MAX_SPARSE_PERIODS } from '../thresholds.ts';

/** What a table is described with. */
export interface SheetContext {
  naming: Naming;
  /** All tables of the sheet. */
  tables: FoundTable[];
  /** A row of the sheet by its number in the short form that is looked at. */
  rowOf(row: number): number;
}

export function describeTable(view: SheetView, table: FoundTable, name: string, { naming, tables, rowOf }: SheetContext): SpecRegion {
  const columns = readHeaderColumns(view, table.range, table.headerRows, table.firstDataRow);
  const rows = readTableRows(view, table.range, table.firstDataRow, table.headerRows);
  const report = readReport(view, rows, listTotalColumns(columns));
  const labels = new Set(rows.labelColumns);
  const names = nameColumns(columns, (position) => labels.has(columns[position]!.column), naming);
  const values = new Set(rows.valueColumns);
  // The labels of a report stay labels, even where their header reads as a period.
  const measured = report.isReport ? columns.filter((column) => !labels.has(column.column)) : columns;
  const month = areDays(measured) ? findMonthAbove(view, table.range) : null;
  const reading = { japanese: isJapanese(view), nameless: naming.value, month };
  const found = findPeriods(measured, (column) => values.has(column), reading);
  const marked = shareMarked(view, found, rows.spans);
  const periods = marked < MARKED_SHARE ? [] : found;
  const region = makeRegion(view, report.isReport ? 'report' : 'data', table.range, name);
  region.header_rows = table.headerRows;
  region.data_range = rows.rows.length > 0 ? formatRange({ ...table.range, top: table.firstDataRow }) : null;
  const sections = report.isReport ? null : findSections(view, rows.rows, table.range.left, table.range.right);
  const apart = report.isReport ? [] : [...report.computedRows, ...(sections?.lines.keys() ?? [])];
  region.columns = describeColumns(view, columns, names, rows.spans, new Set(apart), rows.rows);
  if (periods.length > 0) region.periods = periods;
  const totals = [...describeTotalRows(report), ...describeTotalColumns(periods)];
  if (totals.length > 0) region.totals = totals;
  weighTable(view, region, {
    table,
    others: tables.filter((other) => other !== table),
    report,
    periods,
    periodColumns: countPeriods(measured, reading),
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

function typeColumns(grid: Grid, columns: SpecColumn[], cells: Map<number, ArrayLike<number>>): void {
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

export function makeRegion(view: SheetView, kind: SpecRegion['kind'], range: Range, name: string): SpecRegion {
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
  typeColumns(whole, region.columns, listCellsOf(region, whole, computed));
}

/** The cells of each column of a region, without those of computed rows. */
function listCellsOf(region: SpecRegion, grid: Grid, computed: Set<unknown>): Map<number, Int32Array> {
  const { columns } = grid;
  const runs = listRuns(grid, parseRange(region.data_range!)!, computed);
  const numbers = region.columns.map(({ from }) => parseColumn(from));
  // Counted first, so that lists need not grow.
  const counts = new Uint32Array(Math.max(0, ...numbers) + 1);
  for (const [from, to] of runs) for (let i = from; i < to; i += 1) if (columns[i]! < counts.length) counts[columns[i]!]! += 1;
  const lists: (Int32Array | undefined)[] = new Array(counts.length).fill(undefined);
  for (const number of numbers) lists[number] = new Int32Array(counts[number]!);
  counts.fill(0);
  for (const [from, to] of runs)
    for (let i = from; i < to; i += 1) {
      const column = columns[i]!;
      const list = column < counts.length ? lists[column] : undefined;
      if (list === undefined) continue;
      list[counts[column]!] = i;
      counts[column]! += 1;
    }
  return new Map(numbers.map((number) => [number, lists[number]!]));
}

/** The cells of rows that follow one another, from a first to one behind the last. */
function listRuns({ size, rows }: Grid, { top, bottom }: Range, computed: Set<unknown>): [from: number, to: number][] {
  const runs: [number, number][] = [];
  let row = 0;
  let start = -1;
  let i = 0;
  for (; i < size && rows[i]! <= bottom; i += 1) {
    if (rows[i] === row) continue;
    row = rows[i]!;
    const isTaken = row >= top && !computed.has(row);
    if (isTaken && start < 0) start = i;
    if (isTaken || start < 0) continue;
    runs.push([start, i]);
    start = -1;
  }
  if (start >= 0) runs.push([start, i]);
  return runs;
}
