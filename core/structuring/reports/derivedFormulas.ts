/** Rows whose formulas say that they are averages, extremes or quotients of other rows of their column. */

import { parseColumn } from '../../a1/address.ts';
import { isOpen, type ReportRow, type ReportWork } from './report.ts';

const CELL = String.raw`\$?([A-Z]{1,3})\$?(\d{1,7})`;
const STATISTIC = new RegExp(String.raw`^(?:AVERAGE|MEDIAN|MAX|MIN|STDEV(?:\.[SP])?)\(${CELL}:${CELL}\)$`, 'i');
const QUOTIENT = new RegExp(String.raw`^\(?${CELL}\)?/\(?${CELL}\)?(?:\*100)?(?:-1)?$`, 'i');
/** `IFERROR(…,0)`, `ROUND(…,1)`: how an empty or a long result is shown. */
const SHOWN_AS = /^(?:IFERROR|ROUND)\((.*),[^(),]*\)$/i;

interface DerivedFormula {
  kind: 'statistic' | 'quotient';
  /** Sheet rows: the first and the last of a statistic, the upper and the lower of a quotient. */
  from: number;
  to: number;
}

/** The rows that a statistic or a quotient in a column is computed from; null for anything else. */
export function readDerivedFormula(formula: string, column: number): DerivedFormula | null {
  let plain = formula.replace(/^=/, '').replace(/\s+/g, '');
  for (let shown = SHOWN_AS.exec(plain); shown; shown = SHOWN_AS.exec(plain)) plain = shown[1]!;
  const statistic = STATISTIC.exec(plain);
  const found = statistic ?? QUOTIENT.exec(plain);
  if (!found || parseColumn(found[1]!) !== column || parseColumn(found[3]!) !== column) return null;
  const [from, to] = [Number(found[2]), Number(found[4])];
  return from === to ? null : { kind: statistic ? 'statistic' : 'quotient', from, to };
}

/** Every figure must be such a formula over rows of the table: one among others may be a guess at a missing value. */
export function linkDerivedFormulas(work: ReportWork): void {
  for (const row of work.rows) {
    if (!isOpen(row) || !isDerived(work, row)) continue;
    row.role = 'computed';
    row.certain = true;
  }
}

function isDerived(work: ReportWork, row: ReportRow): boolean {
  const { view, table, valueColumns } = work;
  const [from, to] = table.spans[row.at]!;
  let figures = 0;
  for (let i = from; i < to; i += 1) {
    const column = view.grid.columns[i]!;
    if (!valueColumns.has(column)) continue;
    const formula = view.formula(i);
    const read = formula === null ? null : readDerivedFormula(formula, column);
    if (!read || !(read.kind === 'statistic' ? work.positions.has(read.to) : isQuotientOfKnown(work, read))) return false;
    figures += 1;
  }
  return figures > 0;
}

/** In a model every row is a formula, and a quotient is one step among many; it is a result where both of its rows are typed or results. */
function isQuotientOfKnown({ view, table, rows, positions, valueColumns, isList }: ReportWork, { from, to }: DerivedFormula): boolean {
  const isKnown = (part: ReportRow | undefined) => {
    if (!part || part.certain) return part !== undefined;
    const [start, end] = table.spans[part.at]!;
    for (let i = start; i < end; i += 1) if (valueColumns.has(view.grid.columns[i]!) && view.formula(i) === null) return true;
    return false;
  };
  return !isList && [from, to].every((row) => isKnown(rows[positions.get(row) ?? -1]));
}
