/** What the rows and columns of a block look like: the features every decision about regions rests on. */

import { CellKind, type Range } from '../../grid/grid.ts';
import { isUnitLine } from '../names/words.ts';
import { COLUMN_CLASS_SHARE, COLUMN_SAMPLE_ROWS, MIN_COUNTING, MIN_FILLER_ROWS, PROSE_LENGTH } from '../thresholds.ts';
import { CellClass, key, type SheetView } from './sheet.ts';

export interface Line {
  row: number;
  /** First and past-the-end cell index within the block. */
  from: number;
  to: number;
  /** Filled cells, a value repeated by an unmerged merge counted once. */
  distinct: number;
  texts: number;
  /** Numbers that are no years, and marks for missing numbers. */
  numbers: number;
  /** Those of the numbers that are marks for missing ones. */
  marks: number;
  years: number;
  periods: number;
  left: number;
  right: number;
  prose: boolean;
  bold: number;
  filled: number;
  /** Whole numbers that count up by one from column to column: hours, days, the numbers of the columns. */
  counting: boolean;
}

export function readLines(view: SheetView, block: Range): Line[] {
  const lines: Line[] = [];
  for (let index = view.rowIndex(block.top); index < view.rows.length && view.rows[index]! <= block.bottom; index += 1) {
    const [from, to] = view.cellsOfRow(index, block.left, block.right);
    if (from < to) lines.push(readLine(view, view.rows[index]!, from, to, block.right));
  }
  lines.forEach((line, k) => {
    if (isRepeatedText(view, line, lines[k + 1])) line.distinct = 1;
  });
  // Line after line that counts up is a calendar, and one with a label below names is data.
  const counting = lines.map((line) => line.counting);
  lines.forEach((line, k) => {
    const above = lines[k - 1];
    const named = above !== undefined && line.texts > 0 && above.distinct > 1 && above.texts > 1 && above.numbers === 0;
    const calendar = (counting[k - 1] && above!.row === line.row - 1) || (counting[k + 1] && lines[k + 1]!.row === line.row + 1);
    if (named || calendar) line.counting = false;
  });
  return lines;
}

/** One text written again for each printed page: a title with nothing right below it, or a unit. Names in a header have their columns below. */
function isRepeatedText(view: SheetView, line: Line, next: Line | undefined): boolean {
  if (line.distinct < 2 || line.texts < line.to - line.from) return false;
  const { texts, columns } = view.grid;
  let apart = true;
  for (let i = line.from + 1; i < line.to; i += 1) {
    if (texts[i] !== texts[line.from]) return false;
    if (columns[i] === columns[i - 1]! + 1) apart = false;
  }
  return isUnitLine(view.label(line.from)) || (apart && next !== undefined && next.row > line.row + 1);
}

/** Years may belong to the count: 2098, 2099, 2100, 2101, of which the last looks like an amount. */
function countsUp(view: SheetView, from: number, to: number, withYears: boolean): boolean {
  let last: number | null = null;
  for (let i = from; i < to; i += 1) {
    if (view.classes[i] !== CellClass.number && !(withYears && view.classes[i] === CellClass.year)) continue;
    const number = Math.abs(view.numeric(i) ?? Number.NaN);
    if (!Number.isInteger(number) || (last !== null && number !== last + 1)) return false;
    last = number;
  }
  return last !== null;
}

function readLine(view: SheetView, row: number, from: number, to: number, edge: number): Line {
  const { grid, classes } = view;
  const line: Line = {
    row,
    from,
    to,
    distinct: 0,
    texts: 0,
    numbers: 0,
    marks: 0,
    years: 0,
    periods: 0,
    left: grid.columns[from]!,
    right: grid.columns[to - 1]!,
    prose: false,
    bold: 0,
    filled: 0,
    counting: false,
  };
  for (let i = from; i < to; i += 1) {
    const repeated = i > from && grid.texts[i]! >= 0 && grid.texts[i] === grid.texts[i - 1] && grid.columns[i] === grid.columns[i - 1]! + 1;
    if (!repeated) line.distinct += 1;
    switch (classes[i]) {
      case CellClass.nullMark:
        line.marks += 1;
        line.numbers += 1;
        break;
      case CellClass.number:
        line.numbers += 1;
        break;
      case CellClass.year:
        line.years += 1;
        break;
      case CellClass.date:
      case CellClass.period:
        line.periods += 1;
        break;
      default:
        line.texts += 1;
        if (grid.texts[i]! >= 0 && grid.strings[grid.texts[i]!]!.length > PROSE_LENGTH) line.prose = true;
    }
    const style = view.style(i);
    if (style.bold) line.bold += 1;
    if (style.filled) line.filled += 1;
  }
  line.counting = line.numbers - line.marks >= MIN_COUNTING && (countsUp(view, from, to, false) || countsUp(view, from, to, true));
  const merge = view.mergeAt.get(key(row, line.right));
  // A merge that reaches into the next block does not take its columns along.
  if (merge && merge.right > line.right) line.right = Math.min(merge.right, edge);
  return line;
}

/** More than one cell, or a number: something that a table could be made of. */
export function isBody(line: Line): boolean {
  return line.distinct > 1 || line.numbers > 0;
}

export interface ColumnProfile {
  filled: number;
  numbers: number;
  /** Crosses and stars, which are counted among the numbers as marks for a missing one. */
  ticks: number;
  years: number;
  texts: number;
  /** Those of the texts that are codes: digits with zeros before them. */
  codes: number;
  dates: number;
  /** Texts on rows with numbers, with the rows that they stand on here or in any column of numbers. */
  fillers: Map<number, Set<number>>;
}

/** What each column holds in these lines. Long blocks are sampled evenly, so that the cost stays flat. */
export function profileColumns(view: SheetView, block: Range, lines: Line[]): ColumnProfile[] {
  const profiles: ColumnProfile[] = Array.from({ length: block.right - block.left + 1 }, () => ({
    filled: 0,
    numbers: 0,
    ticks: 0,
    years: 0,
    texts: 0,
    codes: 0,
    dates: 0,
    fillers: new Map(),
  }));
  const step = Math.max(1, Math.floor(lines.length / COLUMN_SAMPLE_ROWS));
  for (let k = 0; k < lines.length; k += step) {
    const line = lines[k]!;
    for (let i = line.from; i < line.to; i += 1) {
      const profile = profiles[view.grid.columns[i]! - block.left]!;
      profile.filled += 1;
      switch (view.classes[i]) {
        case CellClass.nullMark:
          if (isTick(view, i)) profile.ticks += 1;
          profile.numbers += 1;
          break;
        case CellClass.number:
          profile.numbers += 1;
          break;
        case CellClass.year:
          profile.years += 1;
          break;
        case CellClass.date:
        case CellClass.period:
          profile.dates += 1;
          break;
        default:
          profile.texts += 1;
          if (view.classes[i] === CellClass.code) profile.codes += 1;
          if (line.numbers > 0) addRow(profile.fillers, view.grid.texts[i]!, line.row);
      }
    }
  }
  shareFillers(profiles);
  return profiles;
}

function isTick(view: SheetView, i: number): boolean {
  const text = view.grid.texts[i]!;
  return view.grid.kinds[i] === CellKind.text && /^\s*[x×*]\s*$/i.test(view.grid.strings[text]!);
}

/** What fills in for a number does so in every column of numbers. */
function shareFillers(profiles: ColumnProfile[]): void {
  const shared = new Map<number, Set<number>>();
  const numeric = profiles.filter((profile) => profile.fillers.size > 0 && isColumnOfDigits(profile));
  for (const profile of numeric) for (const [text, rows] of profile.fillers) for (const row of rows) addRow(shared, text, row);
  for (const profile of profiles) if (isColumnOfDigits(profile)) profile.fillers = shared;
}

function addRow(fillers: ColumnProfile['fillers'], text: number, row: number): void {
  const rows = fillers.get(text);
  if (rows) rows.add(row);
  else fillers.set(text, new Set([row]));
}

export function isNumericColumn(profile: ColumnProfile): boolean {
  return profile.filled > 0 && (profile.numbers + profile.years) / profile.filled >= COLUMN_CLASS_SHARE;
}

/** Figures or codes, which names can be told apart from. Where most are crosses they are no figures: they tick off the days of a plan. */
export function isColumnOfDigits(profile: ColumnProfile): boolean {
  return (
    profile.numbers + profile.years + profile.codes > profile.ticks * 2 &&
    (profile.numbers + profile.years + profile.codes) / profile.filled >= COLUMN_CLASS_SHARE
  );
}

/** `Not available` on row after row of a column of numbers stands for a number; a name stands once over its column. */
export function isFiller(profile: ColumnProfile, text: number): boolean {
  return (profile.fillers.get(text)?.size ?? 0) >= MIN_FILLER_ROWS;
}

export function isTextColumn(profile: ColumnProfile): boolean {
  return profile.filled > 0 && profile.texts / profile.filled >= COLUMN_CLASS_SHARE;
}

/** The smallest range around the filled cells of lines, merges included; null when they are blank. */
export function boundsOf(lines: Line[]): Range | null {
  if (lines.length === 0) return null;
  let left = Number.POSITIVE_INFINITY;
  let right = 0;
  for (const line of lines) {
    left = Math.min(left, line.left);
    right = Math.max(right, line.right);
  }
  return { top: lines[0]!.row, left, bottom: lines.at(-1)!.row, right };
}
