/** A read-only view of a grid with the look-ups structuring needs; built once, linear in the cells. */

import { formatCell } from '../../grid/format/formatCell.ts';
import { CellKind, type CellStyle, type Grid, PLAIN_STYLE, type Range } from '../../grid/grid.ts';
import { parsePeriod } from '../../period/period.ts';
import type { CellValue } from '../../types/infer.ts';
import { isNullMark, parseNumberText } from '../../types/number.ts';
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
  readonly classes: Uint8Array;
  /** Merges by their top left cell. */
  readonly mergeAt = new Map<number, Range>();
  /** Merges that cover at most their own cell's content. Programs sometimes merge over filled cells; those merges are ignored. */
  readonly merges: Range[] = [];
  readonly used: Range | null;
  readonly frames: Frames;
  private readonly textClasses: Uint8Array;

  /** Sheets of one file share what may be spent on sums. */
  constructor(
    grid: Grid,
    readonly sums: SumBudget = openSumBudget(),
  ) {
    this.grid = grid;
    this.frames = new Frames(grid);
    this.textClasses = Uint8Array.from(grid.strings, (text) => classifyText(text));
    this.classes = new Uint8Array(grid.size);
    let left = Number.POSITIVE_INFINITY;
    let right = 0;
    for (let i = 0; i < grid.size; i += 1) {
      const row = grid.rows[i]!;
      if (this.rows.at(-1) !== row) {
        this.rows.push(row);
        this.starts.push(i);
      }
      left = Math.min(left, grid.columns[i]!);
      right = Math.max(right, grid.columns[i]!);
      this.classes[i] = this.classify(i);
    }
    this.starts.push(grid.size);
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

  private classify(i: number): CellClass {
    const grid = this.grid;
    switch (grid.kinds[i]) {
      case CellKind.text:
        return this.textClasses[grid.texts[i]!] as CellClass;
      case CellKind.number: {
        const n = grid.numbers[i]!;
        if (Number.isInteger(n) && n >= 1800 && n <= 2100 && !/[,%.]/.test(this.style(i).numberFormat)) return CellClass.year;
        return CellClass.number;
      }
      case CellKind.date:
        return CellClass.date;
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
    const grid = this.grid;
    switch (grid.kinds[i]) {
      case CellKind.number:
        return { kind: 'number', number: grid.numbers[i]!, numberFormat: this.style(i).numberFormat };
      case CellKind.boolean:
        return { kind: 'boolean', boolean: grid.numbers[i] === 1 };
      case CellKind.date: {
        const iso = new Date(grid.numbers[i]!).toISOString();
        const timeOnly = grid.numbers[i]! < FIRST_DAY;
        return { kind: 'date', iso: iso.slice(0, 19), hasTime: !timeOnly && iso.slice(11, 19) !== '00:00:00', timeOnly };
      }
      case CellKind.error:
        return { kind: 'error', text: grid.strings[grid.texts[i]!] ?? '' };
      default:
        return { kind: 'text', text: (grid.strings[grid.texts[i]!] ?? '').trim() };
    }
  }

  /** A number for arithmetic; null for anything that is none. */
  numeric(i: number): number | null {
    const grid = this.grid;
    if (grid.kinds[i] === CellKind.number) return grid.numbers[i]!;
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
    if (this.grid.kinds[i] !== CellKind.date || this.grid.numbers[i]! < FIRST_DAY) return null;
    return new Date(this.grid.numbers[i]!).toISOString().slice(0, 10);
  }

  isText(i: number): boolean {
    return this.classes[i] === CellClass.text || this.classes[i] === CellClass.period || this.classes[i] === CellClass.code;
  }
}

/** 1900-01-01: Excel stores a time of day as a moment of the day before its first day. */
const FIRST_DAY = Date.UTC(1900, 0, 1);

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
