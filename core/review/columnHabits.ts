/** How well a cell fits a column, judged by what the other cells of the column are. */

import { kindOfValue, type Region, readNumber, type Value } from './region.ts';
import { countDecimals, deviation, magnitude, median } from './statistics.ts';

/**
 * What a cell is, coarsely enough to come again: blank, a sign for no value such as (NA), a date, a number by its decimal digits, a
 * text that the column holds on other rows as well, or one that it holds once.
 */
type Form = 'blank' | 'sign' | 'date' | 'zero' | 'whole' | 'tenths' | 'hundredths' | 'fraction' | 'repeated' | 'unique';
const formCount = 10;

interface Cell {
  value: Value;
  isSign: boolean;
}

/** Sizes of numbers in decimal digits; `isRelative`: measured from the usual size of their row. */
interface Sizes {
  isRelative: boolean;
  centre: number;
  scale: number;
}

/** What the cells of a column are. */
interface Habit {
  cells: Cell[];
  forms: Form[];
  counts: Map<Form, number>;
  texts: Map<string, number>;
  sizes: Sizes | null;
}

export interface Habits {
  columns: Habit[];
  /** By row: the usual size of its numbers; null where it has few. */
  rowSizes: (number | null)[];
}

/** A median of fewer numbers is one of them. */
const leastSizes = 5;
/** Numbers of one column differ in size by at least this much. */
const leastScale = 0.1;

export function learnHabits(region: Region): Habits {
  const sizes = region.columns.map(({ values }) => values.map(sizeOf));
  const rowSizes = Array.from({ length: region.rowCount }, (_, row) => {
    const own = sizes.flatMap((column) => column[row] ?? []);
    return own.length < leastSizes ? null : median(own);
  });
  const columns = region.columns.map(({ values }, k): Habit => {
    const texts = new Map<string, number>();
    for (const value of values) if (typeof value === 'string') texts.set(value, (texts.get(value) ?? 0) + 1);
    const cells = values.map((value, row) => ({ value, isSign: region.isSign?.(row, k) ?? false }));
    const forms = cells.map((cell) => formOf(cell, (text) => (texts.get(text) ?? 0) > 1));
    const counts = new Map<Form, number>();
    for (const form of forms) counts.set(form, (counts.get(form) ?? 0) + 1);
    return { cells, forms, counts, texts, sizes: learnSizes(sizes[k] ?? [], rowSizes) };
  });
  return { columns, rowSizes };
}

/** Null for what is no number and for zero, which has no size. */
function sizeOf(value: Value): number | null {
  const number = kindOfValue(value) === 'number' ? readNumber(value) : null;
  return number === null || number === 0 ? null : magnitude(number);
}

/** Of the two ways to measure sizes, the one by which the column is steadier. */
function learnSizes(sizes: (number | null)[], rowSizes: (number | null)[]): Sizes | null {
  const plain = sizes.flatMap((size) => size ?? []);
  const relative = sizes.flatMap((size, row) => (size === null || rowSizes[row] == null ? [] : [size - rowSizes[row]]));
  const measure = (list: number[], isRelative: boolean): Sizes | null => {
    if (list.length < leastSizes) return null;
    const centre = median(list);
    return { isRelative, centre, scale: Math.max(leastScale, deviation(list, centre)) };
  };
  const [a, b] = [measure(plain, false), measure(relative, true)];
  if (!a || !b || relative.length < plain.length) return a;
  return b.scale < a.scale ? b : a;
}

function formOf({ value, isSign }: Cell, isRepeated: (text: string) => boolean): Form {
  const kind = kindOfValue(value);
  if (kind === 'empty') return isSign ? 'sign' : 'blank';
  if (kind === 'date') return 'date';
  if (kind === 'text') return isRepeated(value as string) ? 'repeated' : 'unique';
  const number = readNumber(value) as number;
  if (number === 0) return 'zero';
  return (['whole', 'tenths', 'hundredths'] as const)[countDecimals(number)] ?? 'fraction';
}

/** Natural logarithm of how likely the cell at `from` of a row is in column `to`, by the other rows. `from` null: a blank cell. */
export function rateCell({ columns, rowSizes }: Habits, row: number, from: number | null, to: number): number {
  const habit = columns[to] as Habit;
  const cell = from === null ? { value: null, isSign: false } : (columns[from]?.cells[row] as Cell);
  const own = habit.cells[row]?.value;
  const form = from === to ? (habit.forms[row] as Form) : formOf(cell, (text) => (habit.texts.get(text) ?? 0) - (own === text ? 1 : 0) > 0);
  const count = (habit.counts.get(form) ?? 0) - (habit.forms[row] === form ? 1 : 0);
  const likely = Math.log((count + 1 / formCount) / habit.forms.length);
  const size = sizeOf(cell.value);
  if (!habit.sizes || size === null) return likely;
  const { isRelative, centre, scale } = habit.sizes;
  // With room for wild values.
  const distance = (size - (isRelative ? (rowSizes[row] ?? 0) : 0) - centre) / scale;
  return likely - Math.log(1 + distance ** 2) - Math.log(scale);
}

/** What `rateCell` gives for a usual cell of the column. */
export function rateUsual({ columns }: Habits, to: number): number {
  const { counts, forms, sizes } = columns[to] as Habit;
  let likely = 0;
  for (const count of counts.values()) likely += (count / forms.length) * Math.log(count / forms.length);
  return likely - (sizes ? Math.log(2) + Math.log(sizes.scale) : 0);
}
