/** Long lists in short: rows that look like all those around them say nothing new about the layout of a sheet. */

import { CellKind, type Grid, type Range } from '../../grid/grid.ts';
import { isTotalLabel } from '../names/words.ts';
import { LONG_LIST_HEAD, LONG_LIST_ROWS, LONG_LIST_TAIL, USUAL_CELL_SHARE, USUAL_WIDTH_SHARE } from '../thresholds.ts';

export interface Condensed {
  /** The sheet without the rows that were left out; the rows below have moved up. */
  grid: Grid;
  /** A row of the sheet by its number in `grid`. */
  originalRow(row: number): number;
}

/** Rows from the top among which headers are. */
const TOP_ROWS = 12;

/**
 * Leaves out the middle of long lists. Null where that could hide something: figures below a list may be its totals, merges and
 * groups tie rows together. Then the sheet is read as a whole.
 */
export function condense(grid: Grid): Condensed | null {
  if (grid.size < LONG_LIST_ROWS) return null;
  const rows = listRows(grid);
  if (rows.length < LONG_LIST_ROWS || (grid.rowOutlines?.size ?? 0) > 0 || (grid.arrays?.length ?? 0) > 0) return null;
  const dropped = findMiddles(grid, rows, findUsual(grid, rows));
  if (dropped === null || dropped.length === 0) return null;
  const first = dropped[0]!.top;
  const last = dropped.at(-1)!.bottom;
  if (grid.merges.some((merge) => merge.bottom >= first && merge.top <= last)) return null;
  return shorten(grid, dropped);
}

interface Rows {
  length: number;
  /** Sheet row of each used row, and its first cell; one entry more for the end. */
  numbers: Uint32Array;
  starts: Uint32Array;
}

function listRows(grid: Grid): Rows {
  let length = 0;
  for (let i = 0; i < grid.size; i += 1) if (i === 0 || grid.rows[i] !== grid.rows[i - 1]) length += 1;
  const numbers = new Uint32Array(length);
  const starts = new Uint32Array(length + 1);
  let at = 0;
  for (let i = 0; i < grid.size; i += 1) {
    if (i > 0 && grid.rows[i] === grid.rows[i - 1]) continue;
    numbers[at] = grid.rows[i]!;
    starts[at] = i;
    at += 1;
  }
  starts[length] = grid.size;
  return { length, numbers, starts };
}

/** 1 for the rows that look as usual. */
function findUsual(grid: Grid, rows: Rows): Uint8Array {
  const shapes = findShapes(grid, rows);
  const isUsualShape = judgeShapes(grid, rows, shapes);
  const { kinds, texts } = grid;
  const totals = new Uint8Array(grid.strings.length);
  for (let id = 0; id < totals.length; id += 1) totals[id] = isTotalLabel(grid.strings[id]!) ? 1 : 0;
  const tops = listTops(grid, rows);
  const usual = new Uint8Array(rows.length);
  for (let r = 0; r < rows.length; r += 1) {
    if (!isUsualShape[shapes.of[r]!] || (tops.size > 0 && tops.has(textsOf(grid, rows, r)))) continue;
    let says = 0;
    for (let i = rows.starts[r]!; i < rows.starts[r + 1]!; i += 1) if (kinds[i] === CellKind.text) says |= totals[texts[i]!]!;
    usual[r] = says === 0 ? 1 : 0;
  }
  return usual;
}

interface Shapes {
  /** By row. */
  of: Uint32Array;
  /** A row of each shape, and how many there are. */
  samples: number[];
  counts: number[];
}

/** Rows have the same shape if the same columns hold the same kinds of cells in the same styles. */
function findShapes(grid: Grid, rows: Rows): Shapes {
  const of = new Uint32Array(rows.length);
  const samples: number[] = [];
  const counts: number[] = [];
  const known = new Map<string, number>();
  for (let r = 0; r < rows.length; r += 1) {
    const before = r > 0 ? of[r - 1]! : -1;
    let shape = before >= 0 && isAlike(grid, rows, r, samples[before]!) ? before : -1;
    if (shape < 0) {
      const text = describeShape(grid, rows, r);
      shape = known.get(text) ?? samples.length;
      if (shape === samples.length) {
        known.set(text, shape);
        samples.push(r);
        counts.push(0);
      }
    }
    of[r] = shape;
    counts[shape]! += 1;
  }
  return { of, samples, counts };
}

/** Column, kind, style, and whether there is a formula, in one number. */
function lookOf({ columns, kinds, styleIds, formulaIds }: Grid, i: number): number {
  return ((columns[i]! * 8 + kinds[i]!) * 65_536 + styleIds[i]!) * 2 + (formulaIds[i]! >= 0 ? 1 : 0);
}

function isAlike(grid: Grid, { starts }: Rows, a: number, b: number): boolean {
  const [from, other] = [starts[a]!, starts[b]!];
  const width = starts[a + 1]! - from;
  if (starts[b + 1]! - other !== width) return false;
  for (let k = 0; k < width; k += 1) if (lookOf(grid, from + k) !== lookOf(grid, other + k)) return false;
  return true;
}

function describeShape(grid: Grid, { starts }: Rows, r: number): string {
  let text = '';
  for (let i = starts[r]!; i < starts[r + 1]!; i += 1) text += `${lookOf(grid, i)} `;
  return text;
}

/** A shape is usual if each of its cells looks like many others of its column, and it is not much narrower than most. */
function judgeShapes(grid: Grid, rows: Rows, { samples, counts }: Shapes): boolean[] {
  const looks = new Map<number, number>();
  const widthOf = (r: number) => rows.starts[r + 1]! - rows.starts[r]!;
  let cells = 0;
  samples.forEach((r, shape) => {
    cells += widthOf(r) * counts[shape]!;
    for (let i = rows.starts[r]!; i < rows.starts[r + 1]!; i += 1)
      looks.set(lookOf(grid, i), (looks.get(lookOf(grid, i)) ?? 0) + counts[shape]!);
  });
  const width = cells / rows.length;
  return samples.map((r) => {
    if (widthOf(r) < USUAL_WIDTH_SHARE * width) return false;
    for (let i = rows.starts[r]!; i < rows.starts[r + 1]!; i += 1)
      if (looks.get(lookOf(grid, i))! < USUAL_CELL_SHARE * rows.length) return false;
    return true;
  });
}

/** The texts of rows near the top that hold nothing else: a header that comes again is such a row. */
function listTops(grid: Grid, rows: Rows): Set<string> {
  const tops = new Set<string>();
  for (let r = 0; r < Math.min(TOP_ROWS, rows.length); r += 1) tops.add(textsOf(grid, rows, r));
  tops.delete('');
  return tops;
}

function textsOf({ kinds, texts }: Grid, { starts }: Rows, r: number): string {
  let all = '';
  for (let i = starts[r]!; i < starts[r + 1]!; i += 1) {
    if (kinds[i] !== CellKind.text) return '';
    all += `${texts[i]} `;
  }
  return all;
}

interface Span {
  top: number;
  bottom: number;
}

/** The middles of runs of usual rows without a gap. Null: there are figures below one of them. */
function findMiddles(grid: Grid, rows: Rows, usual: Uint8Array): Span[] | null {
  const middles: Span[] = [];
  for (let r = 0; r < rows.length; ) {
    if (usual[r] === 0) {
      if (middles.length > 0 && hasFigures(grid, rows, r)) return null;
      r += 1;
      continue;
    }
    let end = r + 1;
    while (end < rows.length && usual[end] === 1 && rows.numbers[end] === rows.numbers[end - 1]! + 1) end += 1;
    if (end - r > LONG_LIST_ROWS) middles.push({ top: rows.numbers[r + LONG_LIST_HEAD]!, bottom: rows.numbers[end - LONG_LIST_TAIL - 1]! });
    r = end;
  }
  return middles;
}

function hasFigures({ kinds }: Grid, { starts }: Rows, r: number): boolean {
  for (let i = starts[r]!; i < starts[r + 1]!; i += 1) if (kinds[i] !== CellKind.text) return true;
  return false;
}

function shorten(grid: Grid, dropped: Span[]): Condensed {
  const isDropped = (row: number) => dropped.some(({ top, bottom }) => row >= top && row <= bottom);
  /** A row that is left out counts as the one above. */
  const moved = (row: number) => {
    let up = 0;
    for (const { top, bottom } of dropped) if (row >= top) up += Math.min(row, bottom) - top + 1;
    return row - up;
  };
  const moveRange = <T extends { range: Range }>(item: T): T => ({
    ...item,
    range: { ...item.range, top: moved(item.range.top), bottom: moved(item.range.bottom) },
  });
  const kept: number[] = [];
  for (let i = 0; i < grid.size; i += 1) {
    const span = dropped.find(({ top, bottom }) => grid.rows[i]! >= top && grid.rows[i]! <= bottom);
    if (span) i = firstBelow(grid, span.bottom, i) - 1;
    else kept.push(i);
  }
  const { top: first } = dropped[0]!;
  return {
    grid: {
      ...grid,
      size: kept.length,
      rows: Uint32Array.from(kept, (i) => moved(grid.rows[i]!)),
      columns: Uint16Array.from(kept, (i) => grid.columns[i]!),
      kinds: Uint8Array.from(kept, (i) => grid.kinds[i]!),
      numbers: Float64Array.from(kept, (i) => grid.numbers[i]!),
      texts: Int32Array.from(kept, (i) => grid.texts[i]!),
      // Below the first gap formulas speak of rows by numbers that they no longer have.
      formulaIds: Int32Array.from(kept, (i) => (grid.rows[i]! < first ? grid.formulaIds[i]! : -1)),
      styleIds: Uint16Array.from(kept, (i) => grid.styleIds[i]!),
      blanks: grid.blanks.filter(({ row }) => !isDropped(row)).map((run) => ({ ...run, row: moved(run.row) })),
      merges: grid.merges.map((merge) => ({ ...merge, top: moved(merge.top), bottom: moved(merge.bottom) })),
      hiddenRows: new Set([...grid.hiddenRows].filter((row) => !isDropped(row)).map(moved)),
      listObjects: grid.listObjects.map(moveRange),
      names: grid.names.map(moveRange),
      ...(grid.pivots ? { pivots: grid.pivots.map(moveRange) } : {}),
    },
    originalRow(row) {
      let original = row;
      for (const { top, bottom } of dropped) if (original >= top) original += bottom - top + 1;
      return original;
    },
  };
}

/** The first cell below a row, at or after `from`. */
function firstBelow({ rows, size }: Grid, row: number, from: number): number {
  let [low, high] = [from, size];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! <= row) low = middle + 1;
    else high = middle;
  }
  return low;
}
