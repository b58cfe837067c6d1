import type { Draft } from '../finding.ts';
import { isDate, type Reviewed } from '../region.ts';
import { deviation, median } from '../statistics.ts';

const leastDates = 6;
/** Years in which no sheet has dates, but slips of the pen lie. */
const [firstYear, lastYear] = [1800, 2200];
/** In robust standard deviations; at least ten years, because plans and birthdays are far apart. */
const farAway = 10;
const tenYears = 3652;

/** Dates that cannot be meant, and dates far from all others of their column. */
export function findDatesOutOfRange({ region, summaries, labels }: Reviewed): Draft[] {
  return region.columns.flatMap((column, k): Draft[] => {
    if (summaries[k]?.kind !== 'date') return [];
    const rows = column.values.flatMap((value, row) => (isDate(value) ? [row] : []));
    const days = rows.map((row) => Date.parse((column.values[row] as string).slice(0, 10)) / 86_400_000);
    const centre = median(days);
    const possible = rows.filter((row) => isPossible(column.values[row] as string)).length;
    const limit = Math.max(tenYears, farAway * deviation(days, centre));
    return rows.flatMap((row, i): Draft[] => {
      const value = column.values[row] as string;
      const isImpossible = !isPossible(value);
      if (!isImpossible && (rows.length < leastDates || Math.abs((days[i] as number) - centre) <= limit)) return [];
      return [
        {
          // Where few are dates that are meant, the column may hold something else.
          severity: isImpossible && possible * 2 > rows.length ? 'error' : 'warning',
          message: `${[labels[row], column.name].filter(Boolean).join(', ')}: ${value.slice(0, 10)} is ${isImpossible ? 'no date that is meant' : `far from the others, which lie about ${new Date(centre * 86_400_000).getUTCFullYear()}`}.`,
          spots: [{ row, column: k }],
          suggestedFix: 'Check the year.',
        },
      ];
    });
  });
}

function isPossible(iso: string): boolean {
  const year = Number(iso.slice(0, 4));
  return year >= firstYear && year <= lastYear;
}
