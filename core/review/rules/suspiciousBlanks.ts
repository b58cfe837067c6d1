import type { Draft } from '../finding.ts';
import type { Reviewed } from '../region.ts';

const leastRows = 8;
/** A column that is blank now and then may be so; one that is filled but for a cell in fifty may not. */
const blankShare = 0.02;

/** Blank cells in columns that are filled on nearly all rows. */
export function findSuspiciousBlanks({ region, summaries, labels }: Reviewed): Draft[] {
  const filled = Array.from({ length: region.rowCount }, (_, row) => region.columns.filter(({ values }) => values[row] !== null).length);
  const rows = filled.filter((count) => count * 2 > region.columns.length).length;
  if (rows < leastRows) return [];
  const blanksOf = new Map<number, number[]>();
  region.columns.forEach((column, k) => {
    const blanks = filled.flatMap((count, row) => (count * 2 > region.columns.length && column.values[row] === null ? [row] : []));
    if (blanks.length > Math.max(1, rows * blankShare) || (summaries[k]?.filled ?? 0) < leastRows) return;
    for (const row of blanks) blanksOf.set(row, [...(blanksOf.get(row) ?? []), k]);
  });
  return [...blanksOf].map(([row, blanks]) => {
    const names = blanks.slice(0, 3).map((k) => region.columns[k]?.name ?? '');
    const more = blanks.length > names.length ? ` and ${blanks.length - names.length} more` : '';
    return {
      severity: 'warning',
      message: `${labels[row] || `Row ${row + 1}`}: ${names.join(', ')}${more} ${blanks.length > 1 ? 'are' : 'is'} blank, and filled on nearly all other rows.`,
      spots: blanks.map((column) => ({ row, column })),
      suggestedFix: 'Fill in what is missing, or say that it is not known.',
    };
  });
}
