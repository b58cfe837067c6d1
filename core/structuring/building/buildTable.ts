/** Builds the tables of one data or report region. */

import { parseColumn, parseRange } from '../../a1/address.ts';
import type { Range } from '../../grid/grid.ts';
import type { StoredValue } from '../../types/infer.ts';
import { readHeaderColumns } from '../headers/columnNames.ts';
import { findPageHeaders } from '../headers/pageHeaders.ts';
import type { Naming } from '../names/naming.ts';
import { isSubtotalLabel, isTotalLabel } from '../names/words.ts';
import { expressionOf } from '../reports/expression.ts';
import { readReport } from '../reports/hierarchy.ts';
import { pickLabelColumns } from '../reports/outline.ts';
import type { Report, ReportRow } from '../reports/report.ts';
import { findSections } from '../reports/sections.ts';
import { readTableRows, type TableRows } from '../reports/tableRows.ts';
import { listTotalColumns } from '../reports/totalColumns.ts';
import { key, type SheetView } from '../sheet/sheet.ts';
import type { SpecColumn, SpecPeriod, SpecRegion } from '../spec/spec.ts';
import { DISTINCT_KEYS, MIN_GROUPS } from '../thresholds.ts';
import { emitTable } from './emit.ts';
import type { EmitBatch, EmitPlan, EmitRow, TypeRules } from './emitPlan.ts';
import type { Ledger } from './ledger.ts';
import { byColumn, type OutputTable } from './output.ts';

export interface BuiltRegion {
  tables: OutputTable[];
  report: Report;
  rows: TableRows;
}

/** What the regions of one sheet are built with. */
interface SheetWork {
  view: SheetView;
  ledger: Ledger;
  types: TypeRules;
  naming: Naming;
}

export function buildTableRegion(sheet: SheetWork, region: SpecRegion): BuiltRegion {
  const { view, ledger } = sheet;
  const range = parseRange(region.range)!;
  const data = region.data_range ? parseRange(region.data_range) : null;
  const pages = data ? findPageHeaders(view, data, region.header_rows, data.top) : new Set<number>();
  placeHeaders(view, ledger, [...region.header_rows, ...pages], range);
  if (isPlainList(view, region, data)) return { tables: buildList(sheet, region, data ?? range, pages), ...nothingToAddUp() };
  const rows = data ? readTableRows(view, data, data.top, region.header_rows) : emptyRows();
  const headed = readHeaderColumns(view, range, region.header_rows, data?.top ?? range.bottom);
  const report = readReport(view, rows, listTotalColumns(headed));
  const tables =
    region.kind === 'report' ? buildReport(sheet, region, rows, report, data ?? range) : buildFlat(sheet, region, rows.rows, data ?? range);
  return { tables, report, rows };
}

/** Rows under names, and nothing in it that is or is called a total: no need to look for what adds up to what. */
function isPlainList(view: SheetView, { kind, totals = [], periods = [] }: SpecRegion, data: Range | null): boolean {
  if (kind !== 'data' || totals.length > 0 || periods.some(({ computed }) => computed)) return false;
  const { rows, texts, strings } = view.grid;
  const seen = new Uint8Array(strings.length);
  const [top, bottom] = data ? [data.top, data.bottom] : [1, 0];
  for (let i = view.starts[view.rowIndex(top)] ?? view.grid.size; i < view.grid.size && rows[i]! <= bottom; i += 1) {
    const text = texts[i]!;
    if (text < 0 || seen[text] === 1) continue;
    seen[text] = 1;
    if (isTotalLabel(strings[text]!)) return false;
  }
  return true;
}

function buildList(sheet: SheetWork, region: SpecRegion, range: Range, pages: Set<number>): OutputTable[] {
  const rows = region.data_range ? listFilledRows(sheet.view, range).filter((row) => !pages.has(row)) : [];
  return buildFlat(sheet, region, rows, range);
}

/** The rows that hold something between these columns. */
function listFilledRows(view: SheetView, { top, left, bottom, right }: Range): number[] {
  const rows: number[] = [];
  for (let index = view.rowIndex(top); index < view.rows.length && view.rows[index]! <= bottom; index += 1) {
    const [from, to] = view.cellsOfRow(index, left, right);
    if (from < to) rows.push(view.rows[index]!);
  }
  return rows;
}

function nothingToAddUp(): Pick<BuiltRegion, 'report' | 'rows'> {
  return { report: { rows: [], isReport: false, totalRows: [], computedRows: [] }, rows: emptyRows() };
}

function emptyRows(): TableRows {
  return { rows: [], spans: [], labelColumns: [], valueColumns: [], columnCount: 0, matrix: [], units: [] };
}

function placeHeaders(view: SheetView, ledger: Ledger, rows: number[], range: Range): void {
  for (const row of rows) {
    const index = view.rowIndex(row);
    if (view.rows[index] !== row) continue;
    const [from, to] = view.cellsOfRow(index, range.left, range.right);
    for (let i = from; i < to; i += 1) ledger.place(i, 'header');
  }
}

function makePlan(sheet: SheetWork, region: SpecRegion, leadNames: string[], columns: SpecColumn[], range: Range): EmitPlan {
  return { ...sheet, region, leadNames, columns, filled: fillMerges(sheet.view, range) };
}

/** Merged cells inside the data stand for every row they cover. */
function fillMerges(view: SheetView, range: Range): Map<number, number> {
  const filled = new Map<number, number>();
  for (const merge of view.merges) {
    if (
      merge.bottom === merge.top ||
      merge.top < range.top ||
      merge.bottom > range.bottom ||
      merge.left < range.left ||
      merge.left > range.right
    )
      continue;
    const cell = view.at(merge.top, merge.left);
    if (cell < 0) continue;
    for (let row = merge.top + 1; row <= merge.bottom; row += 1) filled.set(key(row, merge.left), cell);
  }
  return filled;
}

/**
 * A key that is written only on the first row of its group, in the first column, stands for the rows below it: `2021`, blank,
 * blank, `2020`. It must start the table, hardly ever repeat, and leave most rows blank; else a blank is a value that is missing.
 */
function fillGroups(view: SheetView, rows: number[], left: number, filled: Map<number, number>): void {
  const cells: number[] = [];
  let keys = 0;
  let index = view.rowIndex(rows[0] ?? 0);
  for (const row of rows) {
    while (view.rows[index]! < row) index += 1;
    const first = view.cellsOfRow(index, left, left);
    const cell = first[0] < first[1] ? first[0] : -1;
    cells.push(cell);
    if (cell >= 0) keys += 1;
    if (keys * 2 > rows.length || cells[0]! < 0) return;
  }
  const labels = new Set(cells.flatMap((cell) => (cell < 0 ? [] : [view.label(cell)])));
  if (keys < MIN_GROUPS || labels.size < keys * DISTINCT_KEYS) return;
  let last = -1;
  rows.forEach((row, k) => {
    if (cells[k]! >= 0) last = cells[k]!;
    else if (!filled.has(key(row, left))) filled.set(key(row, left), last);
  });
}

function buildFlat(sheet: SheetWork, region: SpecRegion, rows: number[], range: Range): OutputTable[] {
  const computed = new Set((region.totals ?? []).map((total) => total.at));
  const { view, ledger, naming } = sheet;
  const sections = findSections(view, rows, range.left, range.right);
  const plan = makePlan(sheet, region, sections ? [naming.section] : [], region.columns, range);
  const nameOf = (cell: number) => ({ text: cell < 0 ? null : view.label(cell), cell });
  const none: EmitRow['lead'] = [];
  const toEmit = (row: number): EmitRow => ({ row, lead: sections ? [nameOf(sections.cellOf(row))] : none });
  for (const cell of sections?.lines.values() ?? []) ledger.share(cell, 'label', region.id);
  const details = rows.filter((row) => !computed.has(row) && !sections?.lines.has(row));
  fillGroups(sheet.view, details, range.left, plan.filled);
  const totals = rows.filter((row) => computed.has(row)).map(toEmit);
  return emitPair(plan, region.name, 'data', details.map(toEmit), totals);
}

/** The details, and beside them the computed items: total rows, and totals over periods of every row. */
function emitPair(plan: EmitPlan, name: string, role: 'data' | 'level', details: EmitRow[], totals: EmitRow[]): OutputTable[] {
  const all: SpecPeriod[] = plan.region.periods ?? [];
  const periods = all.filter((period) => !period.computed);
  const over = all.filter((period) => period.computed);
  const tables: OutputTable[] = [];
  if (details.length > 0 || (role === 'data' && totals.length === 0))
    tables.push(emitTable(plan, name, role, [{ rows: details, periods }]));
  const computed: EmitBatch[] = [];
  if (totals.length > 0) computed.push({ rows: totals, periods });
  if (over.length > 0) computed.push({ rows: [...details, ...totals], periods: over });
  if (computed.length > 0) tables.push(emitTable(plan, `${name}${plan.naming.computed}`, 'computed', computed));
  return tables;
}

function buildReport(sheet: SheetWork, region: SpecRegion, table: TableRows, report: Report, range: Range): OutputTable[] {
  const { view, naming } = sheet;
  const labels = new Set(pickLabelColumns(view, table));
  const columns = region.columns.filter((column) => !labels.has(parseColumn(column.from)));
  const tables: OutputTable[] = [];
  const depth = Math.max(1, ...report.rows.map((row) => row.level));
  for (let level = 1; level <= depth; level += 1) {
    const own = report.rows.filter((row) => row.level === level && !row.virtual && row.role !== 'group');
    if (own.length === 0) continue;
    const leadNames = [...Array.from({ length: level - 1 }, (_, k) => naming.ancestor(k + 1)), naming.account];
    const plan = makePlan(sheet, region, leadNames, columns, range);
    const toEmit = (row: ReportRow): EmitRow => ({
      row: row.row,
      lead: [...ancestorsOf(report.rows, row), { text: row.label || null, cell: row.labelCell }],
    });
    const details = own.filter((row) => row.role === 'detail' || row.role === 'parent').map(toEmit);
    const totals = own.filter((row) => row.role === 'subtotal' || row.role === 'computed').map(toEmit);
    tables.push(...emitPair(plan, `${region.name}${naming.level(level)}`, 'level', details, totals));
  }
  tables.push(buildAccounts(sheet, region, table, report));
  return tables;
}

function ancestorsOf(rows: ReportRow[], row: ReportRow): EmitRow['lead'] {
  const chain: EmitRow['lead'] = [];
  for (let p = row.parent; p >= 0 && chain.length < row.level; p = rows[p]!.parent)
    chain.unshift({ text: rows[p]!.label || null, cell: rows[p]!.labelCell });
  return chain;
}

/** A grand total is a calculation over the whole report; a subtotal closes the items beside it. */
function nameRole(row: ReportRow, kinds: Naming['accountKinds']): string {
  switch (row.role) {
    case 'detail':
      return kinds.detail;
    case 'computed':
      return kinds.computed;
    case 'subtotal':
      return row.parent < 0 && !isSubtotalLabel(row.label) ? kinds.computed : kinds.subtotal;
    default:
      return kinds.subtotal;
  }
}

/** Position of the account among the columns of the tree. */
const ACCOUNT = 1;

/** The tree of accounts: one row per label, with what it is computed from. */
function buildAccounts({ view, ledger, naming }: SheetWork, region: SpecRegion, table: TableRows, report: Report): OutputTable {
  const labels = new Set(pickLabelColumns(view, table));
  const rows: StoredValue[][] = [];
  const provenance = { offsets: [0], cells: [] as number[], columns: [] as number[] };
  report.rows.forEach((row, k) => {
    if (row.labelCell >= 0) ledger.share(row.labelCell, 'label', region.id);
    rows.push([
      k + 1,
      row.label || null,
      row.parent < 0 ? null : row.parent + 1,
      row.level,
      k + 1,
      nameRole(row, naming.accountKinds),
      expressionOf(report.rows, row),
    ]);
    if (row.labelCell >= 0) {
      provenance.cells.push(row.labelCell);
      provenance.columns.push(ACCOUNT);
    }
    provenance.offsets.push(provenance.cells.length);
  });
  // A label written again on each row of its group belongs to the group.
  for (const [from, to] of table.spans)
    for (let i = from; i < to; i += 1) if (labels.has(view.grid.columns[i]!)) ledger.share(i, 'label', region.id);
  const { id, parentId, level, position, kind, formula } = naming.accountColumns;
  return {
    name: `${region.name}${naming.accounts}`,
    role: 'accounts',
    sheet: view.grid.sheet,
    regionId: region.id,
    range: region.range,
    columns: [
      { name: id, type: 'BIGINT' },
      { name: naming.account, type: 'VARCHAR' },
      { name: parentId, type: 'BIGINT' },
      { name: level, type: 'BIGINT' },
      { name: position, type: 'BIGINT' },
      { name: kind, type: 'VARCHAR' },
      { name: formula, type: 'VARCHAR' },
    ],
    ...byColumn(rows, 7),
    made: [0, 1, 2, 3, 4, 5, 6],
    provenance,
  };
}
