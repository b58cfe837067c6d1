import type { Draft } from '../finding.ts';
import type { Region, Reviewed } from '../region.ts';

/** Fewer cells tell nothing about a blank one. */
const leastCells = 8;
/** A column that is blank now and then may be so; one that is filled but for a cell in fifty may not. */
const blankShare = 0.02;

/** Blank cells in columns that are filled on nearly all rows, and the one row with blank cells in a table without any other. */
export function findSuspiciousBlanks({ region, labels }: Reviewed): Draft[] {
  const blanksOf = Array.from({ length: region.rowCount }, (_, row) => listBlanks(region, row));
  // Rows with little in them are headings and remarks.
  const rows = [...blanksOf.keys()].filter((row) => (blanksOf[row] as number[]).length * 2 < region.columns.length);
  const counts = region.columns.map(() => 0);
  for (const row of rows) for (const k of blanksOf[row] as number[]) counts[k] = (counts[k] as number) + 1;
  const withBlanks = rows.filter((row) => (blanksOf[row] as number[]).length > 0);
  const isRare = (k: number) =>
    rows.length >= leastCells
      ? (counts[k] as number) <= Math.max(1, rows.length * blankShare)
      : withBlanks.length === 1 && rows.length * region.columns.length > leastCells;
  return withBlanks.flatMap((row) => {
    const blanks = (blanksOf[row] as number[]).filter(isRare);
    if (blanks.length === 0) return [];
    const names = blanks.slice(0, 3).map((k) => region.columns[k]?.name ?? '');
    const more = blanks.length > names.length ? ` and ${blanks.length - names.length} more` : '';
    return [
      {
        severity: 'warning' as const,
        message: `${labels[row] || `Row ${row + 1}`}: ${names.join(', ')}${more} ${blanks.length > 1 ? 'are' : 'is'} blank, and filled on nearly all other rows.`,
        spots: blanks.map((column) => ({ row, column })),
        suggestedFix: 'Fill in what is missing, or say that it is not known.',
      },
    ];
  });
}

function listBlanks({ columns, isSign }: Region, row: number): number[] {
  return columns.flatMap(({ values }, k) => (values[row] === null && !isSign?.(row, k) ? [k] : []));
}
