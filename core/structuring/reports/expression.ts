/** How a row of a report is computed, in the words of its labels. */

import type { ReportRow } from './report.ts';

/** Sums over more rows than this are told by their range of labels: nobody reads a formula of a hundred names. */
const MAX_EXPRESSION_TERMS = 50;

export function expressionOf(rows: ReportRow[], row: ReportRow): string | null {
  if (!row.certain || row.terms.length === 0) return null;
  const terms = row.terms.filter((term) => rows[term.row]!.label !== '').slice(0, MAX_EXPRESSION_TERMS);
  if (terms.length === 0) return null;
  const text = terms
    .map((term, n) => `${n === 0 ? (term.sign < 0 ? '-' : '') : term.sign < 0 ? ' - ' : ' + '}${rows[term.row]!.label}`)
    .join('');
  return row.terms.length > MAX_EXPRESSION_TERMS ? `${text} + …` : text;
}
