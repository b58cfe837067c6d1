import type { Draft } from '../finding.ts';
import { type ColumnKind, type ColumnSummary, kindOfValue, type Reviewed, readNumber, type Value } from '../region.ts';
import { deviation, magnitude, median } from '../statistics.ts';

/** What cells of a column usually are, in natural logarithms. */
interface Habit {
  kinds: Record<ColumnKind, number>;
  /** Size of its numbers; null for too few. */
  size: { centre: number; scale: number } | null;
}

const leastRows = 6;
/** Columns that are compared; shifts in wider tables show in these. */
const mostColumns = 60;
/** Numbers of one column differ in size by at least this much, in decimal digits. */
const leastScale = 0.15;
/** How many sheets of a hundred may be told of a shift that is none: as an error, and as a warning. */
const chances = { error: 0.01, warning: 0.3 };

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
  if (last < 2 || region.rowCount < 3 || summaries[last]?.filled !== 1) return [];
  const hole = region.columns.findIndex(
    (column, k) => k > 0 && k < last && column.values[row] === null && isMostlyFilled(summaries[k], region.rowCount),
  );
  if (hole < 0) return [];
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
function findUnfitRows({ region, summaries, labels }: Reviewed): Draft[] {
  const width = Math.min(region.columns.length, mostColumns);
  if (region.rowCount < leastRows || width < 3) return [];
  const habits = Array.from({ length: width }, (_, k) => learnHabit(region.columns[k]?.values ?? [], summaries[k]?.read ?? []));
  const surprise = Math.log(0.1);
  const tries = region.rowCount * width * 2;
  const drafts: Draft[] = [];
  for (let row = 0; row < region.rowCount; row += 1) {
    const cells = Array.from({ length: width }, (_, k) => region.columns[k]?.values[row] ?? null);
    if (cells.filter((value) => value !== null).length < 3) continue;
    if (!cells.some((value, k) => (habits[k] as Habit).kinds[kindOfValue(value)] < surprise)) continue;
    const before = cells.map((value, k) => rate(habits[k] as Habit, value));
    const shift = bestShift(habits, cells, before);
    if (!shift || shift.gain < Math.log(tries / chances.warning)) continue;
    drafts.push({
      severity: shift.gain < Math.log(tries / chances.error) ? 'warning' : 'error',
      message: `The cells of ${labels[row] || 'a row'} stand one column too far to the ${shift.to}, from ${region.columns[shift.from]?.name ?? ''} on.`,
      spots: cells.flatMap((value, column) => (column >= shift.from && value !== null ? [{ row, column }] : [])),
      suggestedFix: `Move them one column to the ${shift.to === 'right' ? 'left' : 'right'}.`,
    });
  }
  // Where many rows are "shifted", the columns have two layouts, and nothing is wrong with either.
  return drafts.length <= Math.max(1, region.rowCount * 0.1) ? drafts : [];
}

/** One cell less than there are counts for each kind, so that a cell does not vouch for itself. */
function learnHabit(values: Value[], read: (number | null)[]): Habit {
  const counts: Record<ColumnKind, number> = { number: 0, text: 0, date: 0, empty: 0 };
  for (const value of values) counts[kindOfValue(value)] += 1;
  const share = (kind: ColumnKind) => Math.log((Math.max(0, counts[kind] - 1) + 0.5) / (values.length + 1));
  const sizes = read.flatMap((value) => (value === null || value === 0 ? [] : [magnitude(value)]));
  const centre = median(sizes);
  const size = sizes.length < leastRows ? null : { centre, scale: Math.max(leastScale, deviation(sizes, centre)) };
  return { kinds: { number: share('number'), text: share('text'), date: share('date'), empty: share('empty') }, size };
}

/** How well a value fits a column: its kind, and its size with room for wild values. */
function rate({ kinds, size }: Habit, value: Value): number {
  const kind = kindOfValue(value);
  const number = kind === 'number' ? readNumber(value) : null;
  if (!size || number === null || number === 0) return kinds[kind];
  return kinds[kind] - Math.log(1 + ((magnitude(number) - size.centre) / size.scale) ** 2) - Math.log(size.scale);
}

function bestShift(habits: Habit[], cells: Value[], before: number[]): { from: number; to: 'left' | 'right'; gain: number } | null {
  const last = cells.length - 1;
  let best: { from: number; to: 'left' | 'right'; gain: number } | null = null;
  const consider = (from: number, to: 'left' | 'right', gain: number) => {
    if (!best || gain > best.gain) best = { from, to, gain };
  };
  // Moved to the right: the cell at `from` is blank, and what stands behind it belongs one column before.
  let back = 0;
  for (let from = last; from >= 0; from -= 1) {
    const habit = habits[from] as Habit;
    const moved = from < last ? rate(habit, cells[from + 1] ?? null) : (habits[last] as Habit).kinds.empty;
    back += moved - (before[from] as number);
    // What the last column really held fell out of sight unless it is blank in all rows.
    if (cells[from] === null) consider(from, 'right', back - (from < last ? 0 : 1));
  }
  if (cells[last] !== null) return best;
  // Moved to the left: the last cell is blank, and what stands at `from` belongs one column behind.
  let ahead = 0;
  for (let from = last - 1; from >= 0; from -= 1) {
    ahead += rate(habits[from + 1] as Habit, cells[from] ?? null) - (before[from + 1] as number);
    // Nothing is known of the cell that was overwritten.
    consider(from, 'left', ahead - (before[from] as number) + (habits[from] as Habit).kinds[kindOfValue(cells[from] ?? null)]);
  }
  return best;
}
