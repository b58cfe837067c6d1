/** Reports: levels, parents, totals and differences, from formulas, arithmetic, indents and words, in that order of trust. */

import { isFirstPart, isRunningTotal } from '../names/words.ts';
import { CellClass, type SheetView } from '../sheet/sheet.ts';
import { FIGURE_SHARE, MAX_LABEL_COLUMNS } from '../thresholds.ts';
import { linkComputed } from './computed.ts';
import { type OutlineNode, readList, readOutline } from './outline.ts';
import type { Report, ReportRow } from './report.ts';
import type { TableRows } from './tableRows.ts';
import { linkTotalColumns } from './totalColumns.ts';

/** `totalColumns` are the columns whose names say that they add up what stands beside them. */
export function readReport(view: SheetView, table: TableRows, totalColumns: Set<number> = new Set()): Report {
  const figures = isTableOfFigures(table) && !isDatedList(view, table);
  const nodes = figures ? readOutline(view, table) : readList(view, table);
  const rows = nodes.map(makeReportRow);
  if (table.labelColumns.length === 0 || table.valueColumns.length === 0) return { rows, isReport: false, totalRows: [], computedRows: [] };
  linkComputed(view, table, rows, !figures);
  linkTotalColumns(table, rows, totalColumns);
  assignRoles(rows);
  assignLevels(rows);
  const totals = rows.filter((row) => isTotalRow(row, rows));
  return {
    rows,
    isReport: figures && isReport(rows),
    totalRows: totals.map((row) => row.row),
    computedRows: rows.filter((row) => row.role === 'subtotal' || row.role === 'computed').map((row) => row.row),
  };
}

function makeReportRow(node: OutlineNode): ReportRow {
  const { at, row, label, labelCell, virtual, hasValues, alone, offset, bold, total, whole, ratio, parent } = node;
  return {
    at,
    row,
    label,
    labelCell,
    virtual,
    hasValues,
    alone,
    offset,
    bold,
    total,
    whole,
    ratio,
    parent,
    level: 1,
    role: 'detail',
    terms: [],
    certain: false,
  };
}

function assignRoles(rows: ReportRow[]): void {
  const children = countChildren(rows);
  rows.forEach((row, k) => {
    if (row.role !== 'detail') return;
    if (children[k]! > 0 && row.alone && !row.hasValues) row.role = 'group';
    else if (children[k]! > 0 && row.certain) row.role = 'parent';
  });
}

export function countChildren(rows: { parent: number }[]): number[] {
  const counts = rows.map(() => 0);
  for (const row of rows) if (row.parent >= 0) counts[row.parent] = counts[row.parent]! + 1;
  return counts;
}

function assignLevels(rows: ReportRow[]): void {
  const known = new Map<number, number>();
  const levelOf = (k: number): number => {
    const found = known.get(k);
    if (found !== undefined) return found;
    // Written before it is known, so that a wrong cycle of parents ends instead of running on.
    known.set(k, 1);
    const parent = rows[k]!.parent;
    const level = parent < 0 ? 1 : levelOf(parent) + 1;
    known.set(k, level);
    return level;
  };
  rows.forEach((row, k) => {
    row.level = levelOf(k);
  });
}

function isTotalRow(row: ReportRow, rows: ReportRow[]): boolean {
  if (!row.hasValues) return false;
  if (row.total) return row.role !== 'computed' || !isRunningTotal(row.label);
  if (row.whole && (row.certain || headsParts(row, rows))) return true;
  return (
    row.certain && row.terms.length > 1 && row.terms.every((term) => term.sign > 0) && (row.role === 'subtotal' || isBoldAmong(row, rows))
  );
}

/** `All industries` in bold at the top, `United States` above its states: rates do not add up, but the row is their whole. */
function headsParts(row: ReportRow, rows: ReportRow[]): boolean {
  if (row.bold && row.at === 0 && /^all\b/i.test(row.label)) return true;
  const next = rows.find((other) => other.at > row.at && other.hasValues);
  return next !== undefined && isFirstPart(next.label);
}

function isBoldAmong(row: ReportRow, rows: ReportRow[]): boolean {
  return row.bold && row.terms.some((term) => !rows[term.row]!.bold);
}

/** Levels, or totals that are not one run at the end, in a table of figures. */
function isReport(rows: ReportRow[]): boolean {
  const withValues = rows.filter((row) => row.hasValues).length;
  if (withValues < 2) return false;
  if (rows.some((row) => row.role === 'parent')) return true;
  // Labels side by side are the dimensions of a plain table as well; only labels on rows of their own make levels.
  const groups = rows.filter((row) => row.role === 'group' && !row.virtual).length;
  const under = rows.filter((row) => row.parent >= 0 && !rows[row.parent]!.virtual).length;
  if (under > 0 && groups > 0 && groups <= withValues) return true;
  // Indented rows without a parent they add up to are a report only when indents are the rule, not an accident.
  if (under * 5 >= rows.length) return true;
  const computed = rows.map((row) => row.role === 'subtotal' || row.role === 'computed');
  const first = computed.indexOf(true);
  return first >= 0 && rows.some((row, k) => k > first && !computed[k] && !row.virtual);
}

/** A day on each row before its other labels: records, whose days are no groups. */
function isDatedList(view: SheetView, { labelColumns, spans }: TableRows): boolean {
  const [first, second] = labelColumns;
  if (first === undefined || second === undefined) return false;
  let days = 0;
  for (const [from, to] of spans) if (from < to && view.grid.columns[from] === first && view.classes[from] === CellClass.date) days += 1;
  return days * 2 > spans.length;
}

/** Statements are labels and figures; a table of many texts with a few numbers is a list, whatever its indents. */
function isTableOfFigures(table: TableRows): boolean {
  return (
    table.valueColumns.length >= (table.columnCount - table.labelColumns.length) * FIGURE_SHARE &&
    table.labelColumns.length <= MAX_LABEL_COLUMNS
  );
}
