/** A read-only view of a grid with the look-ups structuring needs; built once, linear in the cells. */

import { formatCell } from '../../grid/format/formatCell.ts';
import { CellKind, type CellStyle, type Grid, PLAIN_STYLE, type Range } from '../../grid/grid.ts';
import { parsePeriod } from '../../period/period.ts';
import type { CellValue } from '../../types/infer.ts';
import { isNullMark, parseNumberText } from '../../types/number.ts';
import { isFillIn } from '../names/words.ts';
import { FIRST_DAY, readDayNumber, readValue } from './cellValue.ts';
import { Frames } from './frames.ts';
import { openSumBudget, type SumBudget } from './sumBudget.ts';

/** The kind of content that a cell shows, as used to compare the cells of a column. */
export const CellClass = { text: 1, number: 2, year: 3, date: 4, nullMark: 5, period: 6, other: 7, code: 8 } as const;
export type CellClass = (typeof CellClass)[keyof typeof CellClass];

export class SheetView {
  readonly grid: Grid;
  /** Rows that hold something, ascending. */
  readonly rows: number[] = [];
  /** For each used row the index of its first cell; one entry more than rows. */
  readonly starts: number[] = [];
  /** Merges by their top left cell. */
  readonly mergeAt = new Map<number, Range>();
  /** Merges that cover at most their own cell's content. Programs sometimes merge over filled cells; those merges are ignored. */
  readonly merges: Range[] = [];
  readonly used: Range | null;
  readonly frames: Frames;
  private found: Uint8Array | null = null;
  private textClasses: Uint8Array | null = null;

  /** Sheets of one file share what may be spent on sums. */
  constructor(
    grid: Grid,
    readonly sums: SumBudget = openSumBudget(),
  ) {
    this.grid = grid;
    this.frames = new Frames(grid);
    let left = Number.POSITIVE_INFINITY;
    let right = 0;
    let last = 0;
    const { size, rows, columns } = grid;
    for (let i = 0; i < size; i += 1) {
      const row = rows[i]!;
      if (last === row) continue;
      this.rows.push(row);
      this.starts.push(i);
      last = row;
      // The cells of a row stand in the order of their columns.
      left = Math.min(left, columns[i]!);
      if (i > 0) right = Math.max(right, columns[i - 1]!);
    }
    if (size > 0) right = Math.max(right, columns[size - 1]!);
    this.starts.push(size);
    this.used = grid.size === 0 ? null : { top: this.rows[0]!, left, bottom: this.rows.at(-1)!, right };
    for (const merge of grid.merges) {
      if (!this.isClean(merge)) continue;
      this.merges.push(merge);
      this.mergeAt.set(key(merge.top, merge.left), merge);
    }
  }

  private isClean(merge: Range): boolean {
    let filled = 0;
    for (let index = this.rowIndex(merge.top); index < this.rows.length && this.rows[index]! <= merge.bottom && filled < 2; index += 1) {
      const [from, to] = this.cellsOfRow(index, merge.left, merge.right);
      filled += to - from;
    }
    return filled === 0 || (filled === 1 && this.at(merge.top, merge.left) >= 0);
  }

  /** What each cell shows. Found out when it is first asked for: who only builds a list does not need it. */
  get classes(): Uint8Array {
    if (this.found) return this.found;
    this.found = new Uint8Array(this.grid.size);
    for (let i = 0; i < this.grid.size; i += 1) this.found[i] = this.classOf(i);
    return this.found;
  }

  /** What one cell shows, for who asks of few of them. */
  classOf(i: number): CellClass {
    const grid = this.grid;
    switch (grid.kinds[i]) {
      case CellKind.text: {
        // A text is classified once, and only if a cell holds it.
        this.textClasses ??= new Uint8Array(grid.strings.length);
        const text = grid.texts[i]!;
        if (this.textClasses[text] === 0) this.textClasses[text] = classifyText(grid.strings[text]!);
        return this.textClasses[text] as CellClass;
      }
      case CellKind.number: {
        const n = grid.numbers[i]!;
        if (Number.isInteger(n) && n >= 1800 && n <= 2100 && !/[,%.]/.test(this.style(i).numberFormat)) return CellClass.year;
        return CellClass.number;
      }
      case CellKind.date:
        return readDayNumber(this.grid, i) === null ? CellClass.date : CellClass.number;
      case CellKind.error:
        return CellClass.nullMark;
      default:
        return CellClass.other;
    }
  }

  style(i: number): CellStyle {
    return this.grid.styles[this.grid.styleIds[i]!] ?? PLAIN_STYLE;
  }

  /** Position in `rows` of the first used row at or after `row`. */
  rowIndex(row: number): number {
    return lowerBound(this.rows, row, 0, this.rows.length);
  }

  /** First and past-the-end cell index of a used row within columns. */
  cellsOfRow(index: number, left: number, right: number): [number, number] {
    const [from, to] = [this.starts[index]!, this.starts[index + 1]!];
    const columns = this.grid.columns;
    if (columns[from]! >= left && columns[to - 1]! <= right) return [from, to];
    const first = lowerBound(columns, left, from, to);
    return [first, lowerBound(columns, right + 1, first, to)];
  }

  /** Index of the cell at this address, -1 when it is blank. */
  at(row: number, column: number): number {
    const index = this.rowIndex(row);
    if (this.rows[index] !== row) return -1;
    const [from, to] = this.cellsOfRow(index, column, column);
    return from < to ? from : -1;
  }

  /** True when lines drawn between the columns run down from one row to another, so that both are in one frame. */
  isFramed(from: number, to: number, left: number, right: number): boolean {
    const { frames } = this;
    const rows = function* (view: SheetView) {
      for (let row = from; row <= to; row += 1) {
        const index = view.rowIndex(row);
        const cells: [number, number] = view.rows[index] === row ? view.cellsOfRow(index, left - 1, right + 1) : [0, 0];
        yield frames.verticals(row, left, right, cells);
      }
    };
    return frames.runsThrough(rows(this));
  }

  /** Text as shown, with line breaks and outer blanks kept as they are. */
  shown(i: number): string {
    return formatCell(this.grid, i);
  }

  /** One line, without outer blanks: labels and names. */
  label(i: number): string {
    return this.shown(i).replace(/\s+/g, ' ').trim();
  }

  value(i: number): CellValue {
    return readValue(this.grid, i);
  }

  /** A number for arithmetic; null for anything that is none. */
  numeric(i: number): number | null {
    const grid = this.grid;
    if (grid.kinds[i] === CellKind.number) return grid.numbers[i]!;
    if (grid.kinds[i] === CellKind.date) return readDayNumber(this.grid, i);
    if (grid.kinds[i] !== CellKind.text) return null;
    const parsed = parseNumberText(grid.strings[grid.texts[i]!]!);
    return parsed && !parsed.leadingZero ? parsed.value : null;
  }

  formula(i: number): string | null {
    const id = this.grid.formulaIds[i]!;
    return id < 0 ? null : (this.grid.formulas[id] ?? null);
  }

  /** How far a label is moved in: the indent of the cell and the blanks it starts with. */
  indent(i: number): number {
    const grid = this.grid;
    const own = this.style(i).indent * 2;
    if (grid.kinds[i] !== CellKind.text) return own;
    let blanks = 0;
    for (const ch of grid.strings[grid.texts[i]!]!) {
      if (ch === '\u3000') blanks += 2;
      else if (ch === ' ' || ch === '\u00a0') blanks += 1;
      else break;
    }
    return own + blanks;
  }

  /** The day a date cell holds, as `YYYY-MM-DD`; null for anything else. */
  day(i: number): string | null {
    if (this.grid.kinds[i] !== CellKind.date || this.grid.numbers[i]! < FIRST_DAY || readDayNumber(this.grid, i) !== null) return null;
    return new Date(this.grid.numbers[i]!).toISOString().slice(0, 10);
  }

  isText(i: number): boolean {
    return this.classes[i] === CellClass.text || this.classes[i] === CellClass.period || this.classes[i] === CellClass.code;
  }
}

export function key(row: number, column: number): number {
  return row * 16_385 + column;
}

function lowerBound(sorted: ArrayLike<number>, wanted: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Figures with something behind them: `76.3±1.2`, `1,008 (63%)`, `80.6%*`. Not numbers to reckon with, but data; `2008*` is a year. */
const MARKED_FIGURE =
  /^(?!(?:1[89]|20)\d\d(?!\d|[.,]\d))[-+]?[$€£¥]?\d[\d,]*(?:\.\d+)?%?(?:\s?±\s?[\d.,]+%?|\s?[([][-+\d.,%\s–±]+[)\]]|\s?[*†‡]{1,2})$/u;

function classifyText(text: string): CellClass {
  if (text.length > 40) return CellClass.text;
  const plain = text.trim();
  // A row of dots is a place to sign, and no missing number.
  if (isFillIn(plain)) return CellClass.text;
  if (isNullMark(plain)) return CellClass.nullMark;
  // `(2010)` under a name is a year; few negative figures look like one.
  const year = /^\(?(\d{4})\)?$/.exec(plain);
  if (year && Number(year[1]) >= 1800 && Number(year[1]) <= 2100) return CellClass.year;
  if (MARKED_FIGURE.test(plain)) return CellClass.number;
  const number = parseNumberText(plain);
  if (number) return number.leadingZero ? CellClass.code : CellClass.number;
  const period = parsePeriod(plain);
  if (period) return period.kind === 'date' ? CellClass.date : CellClass.period;
  return CellClass.text;
}
