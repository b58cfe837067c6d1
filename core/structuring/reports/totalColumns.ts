/** Subtotals that only a column shows: `Rubber & Trim | | | 0` in a list whose last column is called Total. */

import { isTotalColumn } from '../names/words.ts';
import { MIN_HEADED_GROUPS } from '../thresholds.ts';
import type { ReportRow } from './report.ts';
import { checkSum, type Term } from './sums.ts';
import type { TableRows } from './tableRows.ts';

/** Columns that are called a total by their innermost name. */
export function listTotalColumns(columns: { column: number; parts: string[] }[]): Set<number> {
  return new Set(columns.flatMap(({ column, parts }) => (isTotalColumn(parts.at(-1) ?? '') ? [column] : [])));
}

/**
 * Rows whose only figures stand in columns called Total, each above the rows of its group or below them, again and again down the
 * list, and equal to their sum. One such row may be a charge that has no quantity and no price.
 */
export function linkTotalColumns(table: TableRows, rows: ReportRow[], totalColumns: Set<number>): void {
  const others = table.valueColumns.flatMap((column, k) => (totalColumns.has(column) ? [] : [k]));
  if (others.length === 0 || others.length === table.valueColumns.length) return;
  const figures = (row: ReportRow) => !row.virtual && row.hasValues;
  const isPart = (row: ReportRow) => figures(row) && others.some((k) => table.matrix[row.at]![k] !== null);
  const bare = rows.flatMap((row, k) => (figures(row) && row.labelCell >= 0 && !isPart(row) ? [k] : []));
  if (bare.length < MIN_HEADED_GROUPS) return;
  const groups = bare.map((k, n) => ({ k, above: partsBetween(bare[n - 1] ?? -1, k), below: partsBetween(k, bare[n + 1] ?? rows.length) }));
  for (const side of ['below', 'above'] as const) {
    const linked = groups.filter((group) => group[side].length > 1 && adds(group.k, group[side]));
    if (linked.length < MIN_HEADED_GROUPS || linked.length < groups.length - 1) continue;
    for (const group of linked) link(rows[group.k]!, group[side]);
    return;
  }

  function partsBetween(from: number, to: number): Term[] {
    const terms: Term[] = [];
    for (let k = from + 1; k < to; k += 1) if (isPart(rows[k]!)) terms.push({ row: k, sign: 1 });
    return terms;
  }

  function adds(k: number, terms: Term[]): boolean {
    const check = checkSum(table.matrix, table.units, rows[k]!.at, terms, (position) => rows[position]!.at);
    return check.compared > 0 && check.holds === check.compared;
  }
}

function link(row: ReportRow, terms: Term[]): void {
  if (row.certain || row.role !== 'detail') return;
  row.terms = terms;
  row.certain = true;
  row.role = 'subtotal';
}
