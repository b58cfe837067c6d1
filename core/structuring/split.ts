/** Cuts a sheet into blocks that each hold one table with its titles and notes. */

import type { Range } from '../grid/grid.ts';
import { findHeader, type HeaderShape, weighLine } from './header.ts';
import { boundsOf, isNumericColumn, isTextColumn, type Line, profileColumns, readLines } from './lines.ts';
import type { SheetView } from './sheet.ts';
import {
  FULL_HEADER_SHARE,
  HEADER_GAP_ROWS,
  LAYOUT_SAMPLE_LINES,
  LOOK_AHEAD_LINES,
  MAX_COLUMN_GROUPS,
  MAX_HEADER_ROWS,
  MAX_TITLE_LINES,
  NARROW_GAP_ROWS,
  NARROW_SHARE,
  SHARED_ROWS,
  STRONG_HEADER_LINES,
  WIDE_GAP_ROWS,
} from './thresholds.ts';
import { isNoteStart, isTotalLabel } from './words.ts';

const MAX_DEPTH = 12;

export function splitSheet(view: SheetView): Range[] {
  return view.used ? splitBlock(view, view.used, 0) : [];
}

function splitBlock(view: SheetView, block: Range, depth: number): Range[] {
  const lines = readLines(view, block);
  const bounds = boundsOf(lines);
  if (!bounds) return [];
  const own = { ...bounds, left: Math.max(bounds.left, block.left), right: Math.min(bounds.right, block.right) };
  if (depth >= MAX_DEPTH) return [own];
  const parts = splitColumns(view, own, lines) ?? splitRows(view, own, lines);
  return parts ? parts.flatMap((part) => splitBlock(view, part, depth + 1)) : [own];
}

function isBody(line: Line): boolean {
  return line.distinct > 1 || line.numbers > 0;
}

/** Parts left and right of blank columns, where they are tables of their own. */
function splitColumns(view: SheetView, block: Range, lines: Line[]): Range[] | null {
  const width = block.right - block.left + 1;
  if (width < 4) return null;
  const occupied = new Uint8Array(width);
  for (const line of lines) {
    if (!isBody(line)) continue;
    for (let i = line.from; i < line.to; i += 1) occupied[view.grid.columns[i]! - block.left] = 1;
  }
  const groups: Range[] = [];
  for (let c = 0; c < width; c += 1) {
    if (!occupied[c]) continue;
    const last = groups.at(-1);
    if (last && last.right === block.left + c - 1) last.right = block.left + c;
    else groups.push({ ...block, left: block.left + c, right: block.left + c });
  }
  if (groups.length === 1) return splitRepeatedHeader(view, block, lines);
  // So many gaps are a style of spacing columns, not so many tables.
  if (groups.length > MAX_COLUMN_GROUPS) return null;
  const parts: Range[] = [groups[0]!];
  for (const group of groups.slice(1)) {
    const current = parts.at(-1)!;
    if (areSideBySide(view, current, group) || isRemarkColumn(view, current, group, lines)) parts.push(group);
    else current.right = group.right;
  }
  if (parts.length < 2) return null;
  // Titles over blank columns go with the part on their left.
  parts.forEach((part, k) => {
    part.left = k === 0 ? block.left : part.left;
    part.right = k === parts.length - 1 ? block.right : parts[k + 1]!.left - 1;
  });
  return parts;
}

function areSideBySide(view: SheetView, left: Range, right: Range): boolean {
  if (right.left === right.right || left.left === left.right) return false;
  const leftLines = readLines(view, left);
  const rightLines = readLines(view, right);
  if (leftLines.length < 2 || rightLines.length < 2) return false;
  const leftShape = findHeader(view, left, leftLines);
  const rightShape = findHeader(view, right, rightLines);
  const labelled =
    startsWithLabels(view, right, rightLines, rightShape.firstData) && startsWithLabels(view, left, leftLines, leftShape.firstData);
  const leftRows = new Set(leftLines.map((line) => line.row));
  const shared = rightLines.filter((line) => leftRows.has(line.row)).length;
  if (shared / (leftRows.size + rightLines.length - shared) < SHARED_ROWS) {
    // Sparse columns under the same header are still the same table.
    const headed =
      rightShape.header.length > 0 && leftShape.header.some((k) => leftLines[k]!.row === rightLines[rightShape.header.at(-1)!]!.row);
    if (!(headed && !labelled && shared / rightLines.length > 0.8)) return true;
  }
  if (headersDisagree(view, left, leftLines, leftShape, right, rightLines, rightShape)) return true;
  if (repeatsHeader(view, left, leftLines, leftShape.header, right, rightLines, rightShape.header)) return true;
  if (!labelled) return false;
  if (right.left - left.right > 2) return true;
  return leftLines.at(-1)!.row !== rightLines.at(-1)!.row || leftLines[0]!.row !== rightLines[0]!.row;
}

/** A few texts some columns away, without a name over them: remarks beside the table. */
function isRemarkColumn(view: SheetView, left: Range, right: Range, lines: Line[]): boolean {
  if (right.left !== right.right || right.left - left.right < 3) return false;
  const remarks = readLines(view, right);
  if (remarks.length * 2 > lines.length || remarks.some((line) => line.texts === 0)) return false;
  const shape = findHeader(
    view,
    left,
    readLines(view, left).filter((line) => line.row <= remarks.at(-1)!.row),
  );
  const leftLines = readLines(view, left);
  return !shape.header.some((k) => remarks.some((line) => line.row === leftLines[k]?.row));
}

/** The header of one part stands among the data of the other, or figures stand beside a line of names. */
function headersDisagree(
  view: SheetView,
  left: Range,
  leftLines: Line[],
  leftShape: HeaderShape,
  right: Range,
  rightLines: Line[],
  rightShape: HeaderShape,
): boolean {
  const leftHead = leftLines[leftShape.header.at(-1) ?? -1];
  const leftData = leftLines[leftShape.firstData];
  if (!leftHead || !leftData || leftHead.distinct < 2) return false;
  const rightHead = rightLines[rightShape.header.at(-1) ?? -1];
  const rightData = rightLines[rightShape.firstData];
  const apart = right.left - left.right > 2;
  if (apart && rightHead && rightData && rightHead.distinct > 1 && (rightHead.row > leftData.row || leftHead.row > rightData.row))
    return true;
  const beside = rightLines.find((line) => line.row === leftHead.row);
  return beside !== undefined && beside.numbers > 0 && startsWithLabels(view, right, rightLines, 0);
}

/** `Year | Month | A | Year | Month | B` without a gap: the header starts again where the second table does. */
function splitRepeatedHeader(view: SheetView, block: Range, lines: Line[]): Range[] | null {
  const shape = findHeader(view, block, lines);
  if (shape.header.length !== 1 || lines.length - shape.firstData < 2) return null;
  const names = headerNames(view, lines, shape.header);
  const columns = [...names.keys()];
  if (columns.length < 4 || columns[0] !== block.left) return null;
  const again = columns.findIndex(
    (column, k) => k > 1 && names.get(column) === names.get(columns[0]!) && names.get(columns[k + 1]!) === names.get(columns[1]!),
  );
  if (again < 2 || columns[again] === undefined) return null;
  return [
    { ...block, right: columns[again]! - 1 },
    { ...block, left: columns[again]! },
  ];
}

/** The same names from the first column on: two tables of one make, side by side. */
function repeatsHeader(
  view: SheetView,
  left: Range,
  leftLines: Line[],
  leftHeader: number[],
  right: Range,
  rightLines: Line[],
  rightHeader: number[],
): boolean {
  const [leftNames, rightNames] = [headerNames(view, leftLines, leftHeader), headerNames(view, rightLines, rightHeader)];
  const [leftFirst, rightFirst] = [leftNames.get(left.left), rightNames.get(right.left)];
  if (leftFirst === undefined || leftFirst !== rightFirst || rightNames.size < 2) return false;
  const known = new Set(leftNames.values());
  let repeated = 0;
  for (const name of rightNames.values()) if (known.has(name)) repeated += 1;
  return repeated >= Math.max(2, Math.min(known.size, rightNames.size) * 0.6);
}

/** A first column of texts and numbers to the right of it: what a table of its own looks like. */
function startsWithLabels(view: SheetView, part: Range, lines: Line[], firstData: number): boolean {
  const profiles = profileColumns(view, part, lines.slice(firstData));
  return isTextColumn(profiles[0]!) && profiles[0]!.filled * 2 > lines.length - firstData && profiles.slice(1).some(isNumericColumn);
}

/** Names of the last header line by column. */
function headerNames(view: SheetView, lines: Line[], header: number[]): Map<number, string> {
  const names = new Map<number, string>();
  const last = header.at(-1);
  if (last === undefined) return names;
  for (let i = lines[last]!.from; i < lines[last]!.to; i += 1) names.set(view.grid.columns[i]!, view.label(i));
  return names;
}

/** Parts above and below blank rows, where the lower one starts a table of its own. */
function splitRows(view: SheetView, block: Range, lines: Line[]): Range[] | null {
  const starts = findStarts(view, block, lines);
  if (starts.length === 0) return null;
  const cuts: number[] = [];
  let from = 0;
  for (const start of starts) {
    // Lines of one cell above a table are its titles, so the cut goes above them.
    const window = lines.slice(start, windowEnd(lines, start));
    if (!startsNewTable(view, block, lines.slice(from, start), window)) continue;
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
    let names = '';
    for (let i = line.from; i < line.to; i += 1) names += `${view.grid.columns[i]}:${view.grid.texts[i]};`;
    let titled = k;
    while (titled > 0 && k - titled < MAX_TITLE_LINES && lines[titled - 1]!.distinct === 1 && !isBody(lines[titled - 1]!)) titled -= 1;
    if (seen.has(names) && titled < k) starts.add(titled);
    seen.add(names);
  });
  const strong = findStrongHeader(view, block, lines);
  if (strong > 0) starts.add(strong);
  return [...starts].filter((k) => k > 0).sort((a, b) => a - b);
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

function startsNewTable(view: SheetView, block: Range, upper: Line[], lower: Line[]): boolean {
  const bodyAbove = upper.filter(isBody);
  const firstBody = lower.findIndex(isBody);
  if (bodyAbove.length < 2 || firstBody < 0) return false;
  if (isNoteStart(view.label(lower[0]!.from)) && !isBody(lower[0]!)) return false;
  // The header must stand in the lines right below the gap, not in a later table of the window.
  if (firstBody > MAX_TITLE_LINES) return false;
  const head = lower[firstBody]!;
  const above = findHeader(view, block, upper);
  if (
    head.distinct > 1 &&
    head.numbers === 0 &&
    above.firstData < upper.length &&
    above.header.some((k) => sameTexts(view, upper[k]!, head))
  )
    return true;
  if (changesLayout(view, upper, lower)) return true;
  const shape = findHeader(view, block, lower);
  if (shape.header.length === 0 || shape.header[0]! > firstBody || shape.firstData >= lower.length) return false;
  if (above.firstData >= upper.length - 1 || isHeaderOf(view, block, upper, lower)) return false;
  return isHeaderLine(view, block, lower, shape.header);
}

/** Far below, or much narrower than the lines above: written for another purpose. */
function changesLayout(view: SheetView, upper: Line[], lower: Line[]): boolean {
  const below = lower.filter(isBody);
  const gap = lower[0]!.row - upper.at(-1)!.row - 1;
  if (gap >= WIDE_GAP_ROWS) return true;
  const above = upper.filter(isBody).slice(-LAYOUT_SAMPLE_LINES);
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

function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Lines of names only, over the columns of numbers below: a tall header with a gap in it, not a table. */
function isHeaderOf(view: SheetView, block: Range, upper: Line[], lower: Line[]): boolean {
  const body = upper.filter(isBody);
  if (body.length > MAX_HEADER_ROWS || body.some((line) => line.numbers > 0)) return false;
  if (lower[0]!.row - upper.at(-1)!.row - 1 > HEADER_GAP_ROWS) return false;
  const profiles = profileColumns(view, block, lower.slice(1));
  return body.filter((line) => weighLine(view, block, line, profiles).header >= 1).length * 2 >= body.length;
}

/** A line of names over columns of numbers, or set apart from the lines below by its style. */
function isHeaderLine(view: SheetView, block: Range, lines: Line[], header: number[]): boolean {
  const head = lines[header.at(-1)!]!;
  if (head.distinct < 2 || head.texts + head.periods + head.years < head.to - head.from) return false;
  const below = lines.slice(header.at(-1)! + 1);
  const profiles = profileColumns(view, block, below);
  for (let i = head.from; i < head.to; i += 1) if (isNumericColumn(profiles[view.grid.columns[i]! - block.left]!)) return true;
  const styled = (line: Line) => line.bold * 2 > line.to - line.from || line.filled * 2 > line.to - line.from;
  return header[0]! > 0 && styled(head) && below.length > 1 && !below.some(styled);
}

function sameTexts(view: SheetView, a: Line, b: Line): boolean {
  if (a.to - a.from !== b.to - b.from || a.texts < 1) return false;
  for (let i = 0; i < a.to - a.from; i += 1) {
    if (view.grid.columns[a.from + i] !== view.grid.columns[b.from + i] || view.grid.texts[a.from + i] !== view.grid.texts[b.from + i])
      return false;
    if (view.grid.texts[a.from + i]! < 0 && view.grid.numbers[a.from + i] !== view.grid.numbers[b.from + i]) return false;
  }
  return true;
}
