import type { Draft } from '../finding.ts';
import type { Reviewed } from '../region.ts';
import { deviation, magnitude, median, showNumber } from '../statistics.ts';

/** Factors between units that people confuse: percent, thousands, 万, millions. */
const factors = [2, 3, 4, 6];
const leastRun = 4;
/** How near a change must be to such a factor, and how steady both sides, in decimal digits. */
const steady = 0.15;
/** Longer columns are no series of one thing. */
const mostRows = 5_000;

/** Columns whose numbers go on a hundred, a thousand or a million times larger or smaller from some row on. */
export function findUnitChanges({ region, summaries }: Reviewed): Draft[] {
  return region.columns.flatMap((column, k): Draft[] => {
    const read = summaries[k]?.read ?? [];
    const rows = read.flatMap((value, row) => (value === null || value === 0 ? [] : [row]));
    if (summaries[k]?.kind !== 'number' || rows.length < 2 * leastRun || rows.length > mostRows) return [];
    const sizes = rows.map((row) => magnitude(read[row] as number));
    const at = findJump(sizes);
    if (at === null) return [];
    const [before, after] = [sizes.slice(0, at), sizes.slice(at)];
    const change = median(after) - median(before);
    if (deviation(before) > steady || deviation(after) > steady) return [];
    if (!factors.some((factor) => Math.abs(Math.abs(change) - factor) <= steady)) return [];
    const [row, last] = [rows[at] as number, rows[at - 1] as number];
    return [
      {
        severity: 'warning',
        message: `${column.name}: from ${showNumber(read[row] as number)} on the numbers are about ${showNumber(10 ** Math.round(Math.abs(change)))} times ${change > 0 ? 'larger' : 'smaller'} than before.`,
        spots: [
          { row: last, column: k },
          { row, column: k },
        ],
        suggestedFix: 'Write all numbers of the column in one unit.',
      },
    ];
  });
}

/** Where the largest step between neighbours is, with a run on either side. */
function findJump(sizes: number[]): number | null {
  let best: number | null = null;
  let largest = 1;
  for (let k = leastRun; k <= sizes.length - leastRun; k += 1) {
    const step = Math.abs((sizes[k] as number) - (sizes[k - 1] as number));
    if (step <= largest) continue;
    largest = step;
    best = k;
  }
  return best;
}
