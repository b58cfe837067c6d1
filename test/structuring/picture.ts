/**
 * Grids drawn as text: a line is a row, `|` parts the cells.
 *
 * Marks before a value: `*` bold, `#` filled, `>` indent (repeatable), `'` keeps digits as text, `@2024-04-01` is a date, `@1899-12-31T09:30` a time,
 * `=SUM(B2:B3)~5` a formula with its result. Numbers are numbers, everything else is text, blanks are no cell.
 */

import { parseArea } from '../../core/a1/address.ts';
import { CellKind, type CellStyle, type Grid, type Range } from '../../core/grid/grid.ts';
import { SheetView } from '../../core/structuring/sheet/sheet.ts';

export interface PictureOptions {
  sheet?: string;
  merges?: string[];
  /** Number formats by column letter. */
  formats?: Record<string, string>;
  /** Areas ruled like squared paper: every cell has a border, blank ones too. */
  ruled?: string[];
  /** Areas of Excel's own tables and of pivot tables, each with one row of names, and of a filter. */
  tables?: string[];
  pivots?: string[];
  filter?: string;
  /** The area that is printed. */
  printed?: string;
  /** Levels of rows that were grouped, by row. */
  outlines?: Record<number, number>;
  frozenRow?: number;
}

export function drawGrid(picture: string, options: PictureOptions = {}): Grid {
  const lines = picture.split('\n');
  if (lines[0]?.trim() === '') lines.shift();
  if (lines.at(-1)?.trim() === '') lines.pop();
  return makeGrid(
    lines.map((line) => (line.trim() === '' ? [] : line.split('|').map((cell) => cell.trim()))),
    options,
  );
}

export function drawSheet(picture: string, options?: PictureOptions): SheetView {
  return new SheetView(drawGrid(picture, options));
}

/** Everything that is used of a drawn sheet. */
export function usedRange({ used }: SheetView): Range {
  if (!used) throw new Error('the picture is blank');
  return used;
}

export function makeGrid(rows: string[][], options: PictureOptions = {}): Grid {
  const builder = new GridBuilder(options);
  rows.forEach((cells, r) => {
    cells.forEach((cell, c) => {
      if (cell !== '') builder.add(r + 1, c + 1, cell);
    });
  });
  return builder.finish();
}

function areasOf(areas: string[] = []): Range[] {
  return areas.map((area) => parseArea(area) ?? { top: 1, left: 1, bottom: 1, right: 1 });
}

class GridBuilder {
  private readonly cells: { row: number; column: number; kind: number; number: number; text: number; formula: number; style: number }[] =
    [];
  private readonly strings: string[] = [];
  private readonly positions = new Map<string, number>();
  private readonly formulas: string[] = [];
  private readonly styles: CellStyle[] = [];
  private readonly styleIds = new Map<string, number>();

  constructor(private readonly options: PictureOptions) {}

  add(row: number, column: number, drawn: string): void {
    const marks = /^[*#>]*/.exec(drawn)?.[0] ?? '';
    const style = this.style(
      marks + (this.isRuled(row, column) ? '+' : ''),
      this.options.formats?.[String.fromCharCode(64 + column)] ?? (/^[*#>]*@/.test(drawn) ? 'yyyy/m/d' : 'General'),
    );
    let rest = drawn.slice(marks.length).trim();
    let formula = -1;
    const computed = /^=(.+)~(.*)$/.exec(rest);
    if (computed) {
      formula = this.formulas.push(computed[1] ?? '') - 1;
      rest = (computed[2] ?? '').trim();
    }
    const base = { row, column, formula, style, number: 0, text: -1 };
    const moment = rest.includes('T') ? rest.slice(1) : `${rest.slice(1)}T00:00:00`;
    if (rest.startsWith('@')) this.cells.push({ ...base, kind: CellKind.date, number: Date.parse(`${moment}Z`) });
    else if (/^-?\d+(\.\d+)?$/.test(rest)) this.cells.push({ ...base, kind: CellKind.number, number: Number(rest) });
    else this.cells.push({ ...base, kind: CellKind.text, text: this.pool(rest.replace(/^'/, '')) });
  }

  private isRuled(row: number, column: number): boolean {
    return this.areas().some((area) => area.top <= row && row <= area.bottom && area.left <= column && column <= area.right);
  }

  private areas() {
    return areasOf(this.options.ruled);
  }

  /** The blank cells of the ruled areas, in row order. */
  private blanks(): Grid['blanks'] {
    const filled = new Set(this.cells.map((cell) => `${cell.row},${cell.column}`));
    const blanks: Grid['blanks'] = [];
    for (const area of this.areas())
      for (let row = area.top; row <= area.bottom; row += 1)
        for (let column = area.left; column <= area.right; column += 1)
          if (!filled.has(`${row},${column}`)) blanks.push({ row, left: column, right: column, styleId: this.style('+', 'General') });
    return blanks.sort((a, b) => a.row - b.row || a.left - b.left);
  }

  private pool(text: string): number {
    const known = this.positions.get(text);
    if (known !== undefined) return known;
    this.positions.set(text, this.strings.length);
    return this.strings.push(text) - 1;
  }

  private style(marks: string, numberFormat: string): number {
    const id = `${marks} ${numberFormat}`;
    const known = this.styleIds.get(id);
    if (known !== undefined) return known;
    const ruled = marks.includes('+');
    const style: CellStyle = {
      bold: marks.includes('*'),
      italic: false,
      filled: marks.includes('#'),
      fillColor: marks.includes('#') ? 'FFDDDDDD' : null,
      fontColor: null,
      fontSize: 11,
      indent: marks.split('>').length - 1,
      align: null,
      border: { top: ruled, bottom: ruled, left: ruled, right: ruled },
      numberFormat,
    };
    this.styleIds.set(id, this.styles.length);
    return this.styles.push(style) - 1;
  }

  finish(): Grid {
    const { cells } = this;
    const blanks = this.blanks();
    return {
      sheet: this.options.sheet ?? 'Sheet1',
      size: cells.length,
      rows: Uint32Array.from(cells, (cell) => cell.row),
      columns: Uint16Array.from(cells, (cell) => cell.column),
      kinds: Uint8Array.from(cells, (cell) => cell.kind),
      numbers: Float64Array.from(cells, (cell) => cell.number),
      texts: Int32Array.from(cells, (cell) => cell.text),
      strings: this.strings,
      formulaIds: Int32Array.from(cells, (cell) => cell.formula),
      formulas: this.formulas,
      styleIds: Uint16Array.from(cells, (cell) => cell.style),
      styles: this.styles,
      blanks,
      merges: (this.options.merges ?? []).map((merge) => parseArea(merge) ?? { top: 1, left: 1, bottom: 1, right: 1 }),
      hiddenRows: new Set(),
      hiddenColumns: new Set(),
      listObjects: areasOf(this.options.tables).map((range) => ({ name: 'T', range, headerRows: 1, totalsRows: 0 })),
      pivots: areasOf(this.options.pivots).map((range) => ({ range, headerRows: 1 })),
      ...(this.options.frozenRow ? { frozenRow: this.options.frozenRow } : {}),
      names: [
        ...areasOf(this.options.filter ? [this.options.filter] : []).map((range) => ({ name: '_xlnm._FilterDatabase', range })),
        ...areasOf(this.options.printed ? [this.options.printed] : []).map((range) => ({ name: '_xlnm.Print_Area', range })),
      ],
      rowOutlines: new Map(Object.entries(this.options.outlines ?? {}).map(([row, level]) => [Number(row), level])),
    };
  }
}
