/** Results of totals that stand far above them: what is left of them, and balances that are carried from column to column. */

import { isProfitLabel } from '../names/words.ts';
import { MAX_BALANCE_TOTALS, STRONG_DIGITS } from '../thresholds.ts';
import { isOpen, type ReportRow, type ReportWork } from './report.ts';
import { checkSum, digitsOf, isSameSum, sumTerms, type Term } from './sums.ts';

/**
 * `Fund balance`, `収支`: computed where it is the difference of two totals above it, or where these move it on from the column before. Its
 * name alone does not say so, and the totals may be any, so that the figures must agree far beyond chance.
 */
export function linkBalances(work: ReportWork): void {
  const { rows } = work;
  const parents = new Set(rows.map((row) => row.parent));
  rows.forEach((row, k) => {
    if (!isOpen(row) || row.total || parents.has(k) || !isProfitLabel(row.label)) return;
    const totals = listTotals(rows, k);
    const tries = listMovements(totals);
    const chances = Math.log10(Math.max(1, tries.length * 2));
    const difference = tries.find((terms) => terms.length === 2 && isDifference(work, k, terms, chances));
    if (!difference && !tries.some((terms) => isCarried(work, k, terms, chances))) return;
    row.role = 'computed';
    row.certain = true;
    // What is carried over has no formula over the rows of its own column.
    row.terms = difference ?? [];
  });
}

/** The nearest totals and results above a row. */
function listTotals(rows: ReportRow[], k: number): number[] {
  const totals: number[] = [];
  for (let j = k - 1; j >= 0 && totals.length < MAX_BALANCE_TOTALS; j -= 1)
    if (rows[j]!.hasValues && (rows[j]!.role === 'subtotal' || (rows[j]!.role === 'computed' && rows[j]!.certain))) totals.push(j);
  return totals.reverse();
}

/** A total less a later one, or one alone. */
function listMovements(totals: number[]): Term[][] {
  const pairs = totals.flatMap((row, n) =>
    totals.slice(n + 1).map((other): Term[] => [
      { row, sign: 1 },
      { row: other, sign: -1 },
    ]),
  );
  return [...pairs, ...totals.map((row): Term[] => [{ row, sign: 1 }])];
}

function isDifference({ table, rows }: ReportWork, k: number, terms: Term[], chances: number): boolean {
  const check = checkSum(table.matrix, table.units, rows[k]!.at, terms, (position) => rows[position]!.at);
  return check.weighty > 0 && check.holds === check.compared && check.digits - chances >= STRONG_DIGITS;
}

/** Totals of quarters among the columns, or a column that was left out, break the chain here and there. */
function isCarried({ table: { matrix, units }, rows }: ReportWork, k: number, terms: Term[], chances: number): boolean {
  const stated = matrix[rows[k]!.at]!;
  let compared = 0;
  let holds = 0;
  let digits = 0;
  for (let c = 1; c < stated.length; c += 1) {
    const [before, now] = [stated[c - 1]!, stated[c]!];
    if (before === null || now === null) continue;
    const { sum, count } = sumTerms(matrix, terms, c, (position) => rows[position]!.at);
    // What does not move agrees with every movement that is too small to show.
    if (count === 0 || isSameSum(now, before, count + 1, units[c]!)) continue;
    compared += 1;
    if (!isSameSum(now, before + sum, count + 1, units[c]!)) continue;
    holds += 1;
    digits += digitsOf(sum, units[c]!);
  }
  return holds > 1 && holds * 2 > compared && digits - chances >= STRONG_DIGITS;
}
