// biome-ignore-all lint/style/noNonNullAssertion: positions are computed within bounds; asking at every byte or cell costs more than the work itself

/** Scans a sheet's XML in chunks: rows and everything around the cells; the cells themselves by `CellScanner`. */

import { parseArea } from '../../core/a1/address.ts';
import type { Range } from '../../core/grid/grid.ts';
import { type CellContext, CellScanner } from './cellScan.ts';
import { refuseDamaged, refuseTooLarge } from './fileRefusals.ts';
import { BANG, findTagEnd, GT, isNameEnd, isSpace, LT, QUESTION, SLASH, skipDeclaration } from './scanText.ts';
import type { SheetLayout } from './sheetLayout.ts';
import { parseAttributes } from './xml.ts';

/** First and last, 1-based, inclusive. */
export type Span = [first: number, last: number];

const EQUALS = 0x3d;

export class SheetScanner {
  readonly cell: CellScanner;
  readonly merges: Range[] = [];
  readonly hiddenRows: Span[] = [];
  readonly hiddenColumns: Span[] = [];
  /** Level by row; null while no row has one. */
  rowOutlines: Uint8Array | null = null;
  /** Ids of relations to Excel tables. */
  readonly tableIds: string[] = [];
  autoFilter: Range | null = null;
  frozenRow = 0;
  /** True until the end tag of the cells was seen. */
  insideCells = false;
  /** Stopped at the beginning of a row because enough cells were gathered. */
  paused = false;
  /** The cells that follow are passed over: only what stands behind them is read. */
  passCells = false;
  private rowsGathered = 0;
  private prefix = 0;
  private rooted = false;
  private objects = 0;

  constructor(
    private readonly context: CellContext,
    /** When to pause; never, unless it is given. */
    private readonly batch: { rows: number; cells: number } = { rows: Number.POSITIVE_INFINITY, cells: Number.POSITIVE_INFINITY },
    /** Where to write down how wide columns and how high rows are, if that is wanted. */
    private readonly layout: SheetLayout | null = null,
  ) {
    this.cell = new CellScanner(context);
  }

  /** Reads every complete element between `start` and `end`; returns where it stopped. */
  scan(b: Buffer, start: number, end: number): number {
    this.paused = false;
    let at = start;
    if (this.insideCells && this.passCells) {
      const tag = `</${this.cell.prefix}sheetData`;
      const found = b.subarray(at, end).indexOf(tag, 0, 'latin1');
      // The tag may begin in this chunk and end in the next.
      if (found < 0) return Math.max(at, end - tag.length);
      at += found;
    }
    while (at < end) {
      while (at < end && b[at] !== LT) at += 1;
      if (at >= end) break;
      const after = this.insideCells ? this.readInside(b, at, end) : this.readOutside(b, at, end);
      if (after < 0) break;
      at = after;
    }
    return at;
  }

  private readInside(b: Buffer, at: number, end: number): number {
    const name = at + 1 + this.prefix;
    const first = b[name];
    if (first === 0x63 && isNameEnd(b[name + 1]!)) return this.cell.read(b, name + 1, end);
    const next = b[at + 1]!;
    if (next === BANG || next === QUESTION) return skipDeclaration(b, at, end);
    if (first === 0x72 && b[name + 1] === 0x6f && b[name + 2] === 0x77 && isNameEnd(b[name + 3]!)) return this.readRow(b, name + 3, end);
    const close = findTagEnd(b, at, end);
    if (close < 0) return -1;
    if (next === SLASH && b[name + 1] === 0x73 && b.toString('latin1', name + 1, name + 10) === 'sheetData') this.insideCells = false;
    return close + 1;
  }

  /** `at` is behind `<row`. */
  private readRow(b: Buffer, at: number, end: number): number {
    if (this.rowsGathered >= this.batch.rows || this.cell.cells.size >= this.batch.cells) {
      this.rowsGathered = 0;
      this.paused = true;
      return -1;
    }
    let row = this.cell.row + 1;
    let style = -1;
    let hasStyle = false;
    let hidden = false;
    let outline = 0;
    let height = Number.NaN;
    let i = at;
    for (;;) {
      while (i < end && (isSpace(b[i]!) || b[i] === SLASH)) i += 1;
      if (i >= end) return -1;
      if (b[i] === GT) break;
      const nameStart = i;
      while (i < end && b[i] !== EQUALS && b[i] !== GT) i += 1;
      if (b[i] === GT) break;
      let nameEnd = i;
      while (isSpace(b[nameEnd - 1]!)) nameEnd -= 1;
      i += 1;
      while (i < end && isSpace(b[i]!)) i += 1;
      const quote = b[i]!;
      const value = i + 1;
      i = value;
      while (i < end && b[i] !== quote) i += 1;
      if (i >= end) return -1;
      const length = nameEnd - nameStart;
      const letter = b[nameStart];
      if (length === 1 && letter === 0x72) row = readDigits(b, value, i) || row;
      else if (length === 1 && letter === 0x73) style = readDigits(b, value, i);
      else if (length === 6 && letter === 0x68) hidden = isTrue(b[value]!);
      else if (length === 12 && letter === 0x63) hasStyle ||= isCustomFormat(b, nameStart) && isTrue(b[value]!);
      else if (length === 12 && letter === 0x6f) outline = readDigits(b, value, i);
      else if (length === 2 && letter === 0x68) {
        hidden ||= i - value === 1 && b[value] === 0x30;
        if (this.layout) height = Number(b.toString('latin1', value, i));
      }
      i += 1;
    }
    if (row < 1) throw refuseDamaged('a row has no number');
    if (row > this.context.limits.rows) throw refuseTooLarge(`A sheet reaches beyond row ${this.context.limits.rows}.`);
    this.rowsGathered += 1;
    this.cell.row = row;
    this.cell.column = 0;
    this.context.blanks?.beginRow(row, hasStyle && style >= 0 ? (this.context.styles.indexOf[style] ?? 0) : -1);
    if (hidden) addSpan(this.hiddenRows, row, row);
    this.layout?.takeRow(row, hidden ? 0 : height);
    if (outline > 0 && outline <= 7) {
      this.rowOutlines ??= new Uint8Array(this.context.limits.rows + 1);
      this.rowOutlines[row] = outline;
    }
    return i + 1;
  }

  /** Before and after the cells; few tags, read as text. */
  private readOutside(b: Buffer, at: number, end: number): number {
    const next = b[at + 1]!;
    if (next === BANG || next === QUESTION) return skipDeclaration(b, at, end);
    const close = findTagEnd(b, at, end);
    if (close < 0) return -1;
    if (next === SLASH) return close + 1;
    if (!this.rooted) this.readRoot(b, at, close);
    let stop = at + 1;
    while (stop < close && !isNameEnd(b[stop]!)) stop += 1;
    // No element that is read has a longer name or another namespace.
    if (stop - at - 1 - this.prefix > 16) return close + 1;
    const name = b.toString('latin1', at + 1 + this.prefix, stop);
    if (name === 'sheetData') this.insideCells = b[close - 1] !== SLASH;
    else if (OUTSIDE.has(name))
      this.takeOutside(name, parseAttributes(b.toString('utf8', stop, b[close - 1] === SLASH ? close - 1 : close)));
    return close + 1;
  }

  private readRoot(b: Buffer, at: number, close: number): void {
    const name = b.toString('latin1', at + 1, Math.min(close, at + 100)).split(/[\s/]/, 1)[0]!;
    this.prefix = name.indexOf(':') + 1;
    this.cell.prefix = name.slice(0, this.prefix);
    this.rooted = true;
  }

  private takeOutside(name: string, attributes: Map<string, string>): void {
    this.objects += 1;
    if (this.objects > this.context.limits.objects)
      throw refuseTooLarge(`A sheet has more than ${this.context.limits.objects} merged ranges or column settings.`);
    if (name === 'col') {
      const [left, right] = [Number(attributes.get('min')), Math.min(Number(attributes.get('max')), this.context.limits.columns)];
      if (!(left >= 1 && left <= right)) return;
      const hidden = attributes.get('hidden') ?? '0';
      const isHidden = hidden === '1' || hidden === 'true' || Number(attributes.get('width') ?? 1) === 0;
      if (isHidden) addSpan(this.hiddenColumns, left, right);
      this.layout?.takeColumns(left, right, isHidden ? 0 : Number(attributes.get('width')));
      const style = this.context.styles.indexOf[Number(attributes.get('style') ?? 0)] ?? 0;
      this.context.blanks?.addColumnStyle({ left, right, styleId: style });
    } else if (name === 'sheetFormatPr') {
      this.layout?.takeUsual(Number(attributes.get('defaultColWidth')), Number(attributes.get('defaultRowHeight')));
    } else if (name === 'pane') {
      if (/^frozen/.test(attributes.get('state') ?? '')) this.frozenRow = Math.trunc(Number(attributes.get('ySplit') ?? 0)) || 0;
    } else if (name === 'tablePart') this.tableIds.push(attributes.get('id') ?? '');
    else {
      const range = parseArea(attributes.get('ref') ?? '');
      if (range && name === 'mergeCell') this.merges.push(range);
      else if (range) this.autoFilter ??= range;
    }
  }
}

const OUTSIDE = new Set(['col', 'mergeCell', 'tablePart', 'autoFilter', 'sheetFormatPr', 'pane']);

function addSpan(spans: Span[], first: number, last: number): void {
  const open = spans.at(-1);
  if (open && open[1] === first - 1) open[1] = last;
  else spans.push([first, last]);
}

function readDigits(b: Buffer, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) value = value * 10 + b[i]! - 48;
  return value;
}

function isTrue(ch: number): boolean {
  return ch === 0x31 || ch === 0x74;
}

/** customHeight has as many letters. */
function isCustomFormat(b: Buffer, at: number): boolean {
  return b[at + 6] === 0x46;
}
