/** Tables one below the other: where a gap, a title or a header that comes again starts a new one. */

import type { Range } from '../../grid/grid.ts';
import { fillsBlanks, findHeader, isFilled, weighLine } from '../headers/header.ts';
import { isTotalLabel } from '../names/words.ts';
import { isBody, isNumericColumn, type Line, profileColumns } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import {
  FULL_HEADER_SHARE,
  HEADER_GAP_ROWS,
  LAYOUT_SAMPLE_LINES,
  LOOK_AHEAD_LINES,
  MAX_HEADER_ROWS,
  MAX_TITLE_LINES,
  MIN_RETURNING,
  NARROW_GAP_ROWS,
  NARROW_SHARE,
  RETURNING_SHARE,
  STRONG_HEADER_LINES,
  TITLE_GAP_ROWS,
  UPPER_LINES,
  WIDE_GAP_ROWS,
} from '../thresholds.ts';
import { isToFillIn } from './forms.ts';

/** Parts above and below blank rows, where the lower one starts a table of its own. */
export function splitRows(view: SheetView, block: Range, lines: Line[]): Range[] | null {
  const starts = findStarts(view, block, lines);
  if (starts.length === 0) return null;
  const cuts: number[] = [];
  let from = 0;
  for (const start of starts) {
    // Lines of one cell above a table are its titles, so the cut goes above them.
    const before = lines[start - 1]!.row;
    if (lines[start]!.row - before > 1 && view.isFramed(before, lines[start]!.row, block.left, block.right)) continue;
    const window = lines.slice(start, windowEnd(lines, start));
    if (!startsNewTable(view, block, readUpper(lines, from, start), window)) continue;
    cuts.push(start);
    from = start;
  }
  if (cuts.length === 0) return null;
  const bounds = [0, ...cuts, lines.length];
  return bounds
    .slice(0, -1)
    .map((k, n) => ({ top: lines[k]!.row, bottom: lines[bounds[n + 1]! - 1]!.row, left: block.left, right: block.right }));
}

/** Lines after a gap, and titles above a header that was there before: the places where a table may start. */
function findStarts(view: SheetView, block: Range, lines: Line[]): number[] {
  const seen = new Set<string>();
  const starts = new Set<number>();
  lines.forEach((line, k) => {
    if (k > 0 && lines[k - 1]!.row < line.row - 1) starts.add(k);
    if (line.distinct < 2 || line.texts < 2 || line.numbers > 0) return;
    if (isBoxedHeader(view, lines, k)) starts.add(k);
    let names = '';
    for (let i = line.from; i < line.to; i += 1) names += `${view.grid.columns[i]}:${view.grid.texts[i]};`;
    let titled = k;
    while (titled > 0 && k - titled < MAX_TITLE_LINES && isTitleOf(lines[titled - 1]!, lines[titled]!)) titled -= 1;
    if (seen.has(names) && titled < k) starts.add(titled);
    seen.add(names);
  });
  for (const k of findReturns(view, lines)) starts.add(k);
  const strong = findStrongHeader(view, block, lines);
  if (strong > 0) starts.add(strong);
  return [...starts].filter((k) => k > 0).sort((a, b) => a - b);
}

/** Lines set apart by their style that repeat most of the first such line, right below figures or texts that are not: the next part of a list. */
function findReturns(view: SheetView, lines: Line[]): number[] {
  const first = lines.findIndex((line) => line.distinct >= MIN_RETURNING && isStyled(line));
  if (first < 0) return [];
  const found: number[] = [];
  for (let k = first + 2; k + 1 < lines.length; k += 1) {
    const plain = !isStyled(lines[k - 1]!) && !isStyled(lines[k + 1]!);
    if (plain && isStyled(lines[k]!) && returnsAs(view, lines[first]!, lines[k]!) && shareEqual(view, lines[first]!, lines[k]!) < 1)
      found.push(k);
  }
  return found;
}

/** One text a little above the next line; further up it belongs to something else. */
function isTitleOf(line: Line, next: Line): boolean {
  return line.distinct === 1 && !isBody(line) && next.row - line.row <= TITLE_GAP_ROWS;
}

/** Names set apart by lines above and below them or by a fill, right under figures that are not: a header without a gap above it. */
function isBoxedHeader(view: SheetView, lines: Line[], k: number): boolean {
  const line = lines[k]!;
  const above = lines[k - 1];
  // Right under pairs of a name and a figure, a wider line of names.
  const follows = above !== undefined && (above.numbers > 1 || (above.numbers > 0 && above.distinct < line.distinct));
  if (!above || !follows || line.distinct < 3 || line.texts + line.periods + line.years < line.to - line.from) return false;
  const boxed = (own: Line) => {
    let count = 0;
    for (let i = own.from; i < own.to; i += 1) {
      const { border, filled } = view.style(i);
      if ((border.top && border.bottom) || filled) count += 1;
    }
    return count > (own.to - own.from) * 0.8;
  };
  return boxed(line) && !boxed(above) && (lines[k + 1]?.numbers ?? 0) > 1 && !boxed(lines[k + 1]!);
}

/** A line of names over columns of numbers, after lines of numbers and with most of the block below it; -1 when there is none. */
function findStrongHeader(view: SheetView, block: Range, lines: Line[]): number {
  let numbered = 0;
  for (let k = 0; k < Math.min(lines.length / 3, STRONG_HEADER_LINES); k += 1) {
    const line = lines[k]!;
    const named = line.distinct >= 4 && line.texts === line.to - line.from;
    if (numbered > 1 && named) {
      const profiles = profileColumns(view, block, lines.slice(k + 1));
      const columns = profiles.filter((profile) => profile.filled > 0).length;
      if (
        line.distinct >= columns * FULL_HEADER_SHARE &&
        weighLine(view, block, line, profiles).header >= line.distinct * FULL_HEADER_SHARE
      )
        return k;
    }
    if (line.numbers > 0) numbered += 1;
  }
  return -1;
}

/** Enough lines below a gap to see a header and some data, however loosely they are laid out. */
function windowEnd(lines: Line[], start: number): number {
  let body = 0;
  let k = start;
  for (; k < lines.length && body < LOOK_AHEAD_LINES; k += 1) if (isBody(lines[k]!)) body += 1;
  return k;
}

/** What stands above a gap: the head of the table, and its last lines. The middle of a long one tells nothing more. */
function readUpper(lines: Line[], from: number, start: number): Line[] {
  if (start - from <= UPPER_LINES * 2) return lines.slice(from, start);
  return [...lines.slice(from, from + UPPER_LINES), ...lines.slice(start - UPPER_LINES, start)];
}

function startsNewTable(view: SheetView, block: Range, upper: Line[], lower: Line[]): boolean {
  const bodyAbove = upper.filter(isBody);
  const firstBody = lower.findIndex(isBody);
  if (bodyAbove.length < 2 || firstBody < 0) return false;
  // The header must stand in the lines right below the gap, not in a later table of the window.
  if (firstBody > MAX_TITLE_LINES) return false;
  const above = findHeader(view, block, upper);
  const shape = findHeader(view, block, lower);
  if (above.firstData < upper.length && above.header.some((k) => returnsIn(view, upper[k]!, lower.slice(firstBody, firstBody + 2))))
    return true;
  if (changesLayout(view, upper, lower) || changesTypes(view, block, upper, lower)) return true;
  if (shape.header.length === 0 || shape.header[0]! > firstBody || shape.firstData >= lower.length) return false;
  if (above.firstData >= (above.header.length > 0 ? upper.length : upper.length - 1) || isHeaderOf(view, block, upper, lower)) return false;
  return isHeaderLine(view, block, lower, shape.header);
}

/** Far below, or much narrower than the lines above: written for another purpose. */
function changesLayout(view: SheetView, upper: Line[], lower: Line[]): boolean {
  const below = lower.filter(isBody);
  const gap = lower[0]!.row - upper.at(-1)!.row - 1;
  if (gap >= WIDE_GAP_ROWS) return true;
  const above = upper.filter(isBody).slice(-LAYOUT_SAMPLE_LINES);
  // A statement that grows narrow goes on as narrow as it was in its last lines.
  if (above.slice(-2).some((line) => below.slice(0, 2).some((next) => line.numbers > 2 && fillsSame(view, line, next)))) return false;
  const width = medianOf(above.map((line) => line.distinct));
  // After a total the table is over, unless what follows is as wide again.
  const ended = above.slice(-2).some((line) => isTotalLabel(view.label(line.from)));
  if (
    ended &&
    width >= 4 &&
    below.slice(0, 2).every((line) => line.distinct <= width * NARROW_SHARE) &&
    !lower.slice(0, 2).some((line) => isTotalLabel(view.label(line.from)))
  )
    return true;
  if (below.length < 2 || gap < NARROW_GAP_ROWS) return false;
  return width >= 4 && Math.max(...below.map((line) => line.distinct)) <= width * NARROW_SHARE;
}

/** Below a total and a title of their own, texts where figures stood: another table, however narrow both are. */
function changesTypes(view: SheetView, block: Range, upper: Line[], lower: Line[]): boolean {
  const above = upper.filter(isBody);
  const below = lower.filter(isBody);
  if (!isTotalLabel(view.label(above.at(-1)!.from)) || lower[0]!.distinct > 1 || isBody(lower[0]!) || below.length < 2) return false;
  // What is declared and signed belongs to the table.
  if (below.some((line) => isToFillIn(view, line))) return false;
  const profiles = profileColumns(view, block, above);
  const figures = (line: Line) => {
    let count = 0;
    for (let i = line.from; i < line.to; i += 1) if (isNumericColumn(profiles[view.grid.columns[i]! - block.left]!)) count += 1;
    return count;
  };
  return below.every((line) => line.numbers + line.years === 0) && below.slice(0, 2).every((line) => figures(line) > 0);
}

/** Something in the same columns, and nowhere else. */
function fillsSame(view: SheetView, a: Line, b: Line): boolean {
  if (a.to - a.from !== b.to - b.from) return false;
  for (let i = 0; i < a.to - a.from; i += 1) if (view.grid.columns[a.from + i] !== view.grid.columns[b.from + i]) return false;
  return true;
}

function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Lines of names only, over the columns of numbers below: a tall header with a gap in it, not a table. */
function isHeaderOf(view: SheetView, block: Range, upper: Line[], lower: Line[]): boolean {
  const body = upper.filter(isBody);
  if (body.length > MAX_HEADER_ROWS || body.some((line) => line.numbers > 0)) return false;
  if (lower[0]!.row - upper.at(-1)!.row - 1 > HEADER_GAP_ROWS) return false;
  // Names, a line of values below them that is not set apart, and names again: the fields of a form above the table. Names where the
  // line above is blank are the rest of its names.
  const again = isStyled(lower[0]!) && body.length > 1 && isStyled(body[0]!) && !isStyled(body.at(-1)!);
  if (again && !fillsBlanks(view, body.at(-1)!, lower[0]!)) return false;
  // What has no fill is no part of a header that has one.
  if (isFilled(lower[0]!) && !body.some(isFilled)) return false;
  const profiles = profileColumns(view, block, lower.slice(1));
  return body.filter((line) => weighLine(view, block, line, profiles).header >= 1).length * 2 >= body.length;
}

/** A line of names over columns of numbers or dates, or set apart from the lines below by its style. */
function isHeaderLine(view: SheetView, block: Range, lines: Line[], header: number[]): boolean {
  const head = lines[header.at(-1)!]!;
  if (head.distinct < 2 || (head.texts + head.periods + head.years < head.to - head.from && !head.counting)) return false;
  const below = lines.slice(header.at(-1)! + 1);
  const profiles = profileColumns(view, block, below);
  for (let i = head.from; i < head.to; i += 1) {
    const profile = profiles[view.grid.columns[i]! - block.left]!;
    if (isNumericColumn(profile) || (view.isText(i) && profile.dates * 2 > profile.filled)) return true;
  }
  return isStyled(head) && below.length > 1 && !below.some(isStyled);
}

function isStyled(line: Line): boolean {
  return line.bold * 2 > line.to - line.from || line.filled * 2 > line.to - line.from;
}

/** A line of a header that comes again below, word for word or with a few names of its own in it. */
function returnsIn(view: SheetView, name: Line, heads: Line[]): boolean {
  const head = heads[0]!;
  if (head.distinct > 1 && head.numbers === 0 && name.texts > 0 && shareEqual(view, name, head) === 1) return true;
  return heads.some((line) => returnsAs(view, name, line));
}

function returnsAs(view: SheetView, name: Line, line: Line): boolean {
  if (line.distinct < MIN_RETURNING || line.texts + line.periods + line.years < line.to - line.from) return false;
  // The corner says which part it is.
  const corner = name.left === line.left ? 1 : 0;
  return shareEqual(view, { ...name, from: name.from + corner }, { ...line, from: line.from + corner }) >= RETURNING_SHARE;
}

/** The share of cells that are the same in both lines, of those that either has. */
function shareEqual(view: SheetView, a: Line, b: Line): number {
  const { columns, texts, numbers } = view.grid;
  let equal = 0;
  for (let i = a.from, j = b.from; i < a.to && j < b.to; ) {
    if (columns[i] === columns[j] && texts[i] === texts[j] && (texts[i]! >= 0 || numbers[i] === numbers[j])) equal += 1;
    if (columns[i]! <= columns[j]!) i += 1;
    else j += 1;
  }
  return equal / Math.max(a.to - a.from, b.to - b.from);
}
