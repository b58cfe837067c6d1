import { type Habits, learnHabits, rateCell, rateUsual } from '../columnHabits.ts';
import type { Draft } from '../finding.ts';
import type { ColumnSummary, Reviewed } from '../region.ts';

const leastRows = 3;
const leastCells = 3;
/** Wider tables are not looked at. */
const mostColumns = 200;
/** How many sheets of a hundred may be told of a shift that is none: as an error, and as a warning. */
const chances = { error: 0.01, warning: 0.3 };
/** Where more rows are "shifted", the columns have two layouts, and nothing is wrong with either. */
const shiftedShare = 0.1;

/** Rows whose cells stand in other columns than those of all other rows. */
export function findShiftedColumns(reviewed: Reviewed): Draft[] {
  const shifted = findUnfitRows(reviewed);
  const known = new Set(shifted.flatMap(({ spots }) => spots.flatMap((spot) => ('row' in spot ? [spot.row] : []))));
  return [...shifted, ...findOverflow(reviewed).filter(({ spots: [spot] }) => spot && 'row' in spot && !known.has(spot.row))];
}

/** A cell behind the last column that all other rows fill, in a row with a hole: a cell too many was put in. */
function findOverflow({ region, summaries, labels }: Reviewed): Draft[] {
  const last = region.columns.length - 1;
  const values = region.columns[last]?.values ?? [];
  const row = values.findIndex((value) => value !== null);
  if (last < 2 || summaries[last]?.filled !== 1) return [];
  const isBehind = region.rowCount >= leastRows || region.columns[last]?.isNameless === true;
  const hole = region.columns.findIndex(
    (column, k) =>
      k > 0 && k < last && column.values[row] === null && !region.isSign?.(row, k) && isMostlyFilled(summaries[k], region.rowCount),
  );
  if (!isBehind || hole < 0) return [];
  return [
    {
      severity: 'warning',
      message: `${labels[row] || 'A row'} goes on behind the last column, and ${region.columns[hole]?.name ?? ''} is blank there: its cells may stand one column too far to the right.`,
      spots: [
        { row, column: last },
        { row, column: hole },
      ],
      suggestedFix: 'Move them one column to the left.',
    },
  ];
}

function isMostlyFilled(summary: ColumnSummary | undefined, rows: number): boolean {
  return (summary?.filled ?? 0) * 2 >= rows - 1;
}

/** Rows that fit the columns only when their cells are moved to the left or the right. */
function findUnfitRows({ region, labels }: Reviewed): Draft[] {
  const width = region.columns.length;
  if (region.rowCount < leastRows || width < leastCells || width > mostColumns) return [];
  const habits = learnHabits(region);
  const tries = region.rowCount * width * 2;
  const drafts: Draft[] = [];
  for (let row = 0; row < region.rowCount; row += 1) {
    const filled = region.columns.flatMap(({ values }, k) => (values[row] === null ? [] : [k]));
    if (filled.length < leastCells) continue;
    const shift = bestShift(habits, row);
    if (!shift || shift.gain < Math.log(tries / chances.warning)) continue;
    const moved = filled.filter((column) => column >= shift.from);
    drafts.push({
      // One cell alone may be a remark beside its column.
      severity: shift.gain < Math.log(tries / chances.error) || moved.length < 2 ? 'warning' : 'error',
      message: `The cells of ${labels[row] || 'a row'} stand one column too far to the ${shift.to}, from ${region.columns[shift.from]?.name ?? ''} on.`,
      spots: moved.map((column) => ({ row, column })),
      suggestedFix: `Move them one column to the ${shift.to === 'right' ? 'left' : 'right'}.`,
    });
  }
  return drafts.length <= Math.max(1, region.rowCount * shiftedShare) ? drafts : [];
}

interface Shift {
  from: number;
  to: 'left' | 'right';
  /** How much more likely the row is when it is moved back, as a natural logarithm. */
  gain: number;
}

function bestShift(habits: Habits, row: number): Shift | null {
  const last = habits.columns.length - 1;
  const isBlank = (column: number) => habits.columns[column]?.forms[row] === 'blank';
  const before = habits.columns.map((_, k) => rateCell(habits, row, k, k));
  let best: Shift | null = null;
  const consider = (from: number, to: Shift['to'], gain: number) => {
    if (!best || gain > best.gain) best = { from, to, gain };
  };
  // Moved to the right: the cell at `from` is blank, and what stands behind it belongs one column before.
  let back = 0;
  for (let from = last; from > 0; from -= 1) {
    back += rateCell(habits, row, from < last ? from + 1 : null, from) - (before[from] as number);
    if (isBlank(from) && from < last) consider(from, 'right', back);
  }
  if (!isBlank(last)) return best;
  // Moved to the left: the last cell is blank, and what stands at `from` belongs one column behind.
  let ahead = 0;
  for (let from = last - 1; from > 0; from -= 1) {
    ahead += rateCell(habits, row, from, from + 1) - (before[from + 1] as number);
    // Nothing is known of the cell that was overwritten.
    consider(from, 'left', ahead + rateUsual(habits, from) - (before[from] as number));
  }
  return best;
}
