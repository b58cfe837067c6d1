/** Tables side by side: where blank columns part a block, and where its header starts again. */

import type { Range } from '../../grid/grid.ts';
import { findHeader, type HeaderShape } from '../headers/header.ts';
import { isBody, isNumericColumn, isTextColumn, type Line, profileColumns, readLines } from '../sheet/lines.ts';
import { key, type SheetView } from '../sheet/sheet.ts';
import { MAX_COLUMN_GROUPS, SHARED_ROWS } from '../thresholds.ts';

/** Parts left and right of blank columns, where they are tables of their own. */
export function splitColumns(view: SheetView, block: Range, lines: Line[]): Range[] | null {
  const width = block.right - block.left + 1;
  if (width < 4) return null;
  const occupied = new Uint8Array(width);
  for (const line of lines) {
    if (!isBody(line)) continue;
    for (let i = line.from; i < line.to; i += 1) {
      const column = view.grid.columns[i]!;
      // On a line of several cells a merged one takes all its columns; few cells may be titles over several tables.
      const right = line.distinct > 2 ? (view.mergeAt.get(key(line.row, column))?.right ?? column) : column;
      occupied.fill(1, column - block.left, Math.min(right, block.right) - block.left + 1);
    }
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
    if (!isRuledGap(view, current, group, lines) && (areSideBySide(view, current, group) || isRemarkColumn(view, current, group, lines)))
      parts.push(group);
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

/** Lines drawn across the blank columns between two parts, on row after row: the cells of one table that nobody filled in. */
function isRuledGap(view: SheetView, left: Range, right: Range, lines: Line[]): boolean {
  const body = lines.filter(isBody);
  const ruled = body.filter((line) => view.frames.isRuled(line.row, left.right + 1, right.left - 1)).length;
  return ruled * 2 > body.length;
}

function areSideBySide(view: SheetView, left: Range, right: Range): boolean {
  if (right.left === right.right || left.left === left.right) return false;
  const leftLines = readLines(view, left);
  const rightLines = readLines(view, right);
  if (leftLines.length < 2 || rightLines.length < 2) return false;
  const leftShape = findHeader(view, left, leftLines);
  const rightShape = findHeader(view, right, rightLines);
  const ownLabels = startsWithLabels(view, right, rightLines, rightShape.firstData);
  const labelled = ownLabels && startsWithLabels(view, left, leftLines, leftShape.firstData);
  const leftRows = new Set(leftLines.map((line) => line.row));
  const shared = rightLines.filter((line) => leftRows.has(line.row)).length;
  const names = rightLines.find((line) => line.distinct > 1);
  const beside = leftLines.find((line) => line.row === names?.row);
  const besideNames = names !== undefined && names.numbers === 0 && beside !== undefined && beside.numbers === 0 && beside.distinct > 1;
  const again = repeatsHeader(view, left, leftLines, leftShape.header, right, rightLines, rightShape.header);
  // One blank column, names beside the names, and neither rows nor labels of its own: more columns of the same table.
  if (right.left - left.right === 2 && besideNames && shared === rightLines.length && !ownLabels) return again;
  if (shared / (leftRows.size + rightLines.length - shared) < SHARED_ROWS) {
    // Sparse columns under the same header are still the same table.
    const headed =
      rightShape.header.length > 0 && leftShape.header.some((k) => leftLines[k]!.row === rightLines[rightShape.header.at(-1)!]!.row);
    if (!(headed && !labelled && shared / rightLines.length > 0.8)) return true;
  }
  if (headersDisagree(view, left, leftLines, leftShape, right, rightLines, rightShape)) return true;
  if (again) return true;
  const titled = isTitled(leftLines) && isTitled(rightLines) && leftLines[0]!.row === rightLines[0]!.row;
  if (titled && startsFilled(view, left, leftLines) && startsFilled(view, right, rightLines)) return true;
  if (!labelled) return false;
  if (right.left - left.right > 2) return true;
  return leftLines.at(-1)!.row !== rightLines.at(-1)!.row || leftLines[0]!.row !== rightLines[0]!.row;
}

/** One text above lines of several cells. */
function isTitled([first, second]: Line[]): boolean {
  return first !== undefined && second !== undefined && first.distinct === 1 && first.texts > 0 && second.distinct > 1;
}

/** Something in the first column of most lines, and figures to the right of it. */
function startsFilled(view: SheetView, part: Range, lines: Line[]): boolean {
  const [labels, ...others] = profileColumns(view, part, lines);
  return labels!.filled * 4 > lines.length * 3 && labels!.texts > 1 && others.some(isNumericColumn);
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
  const labels = profiles[0]!;
  return (
    (isTextColumn(labels) || labels.dates * 2 > labels.filled) &&
    profiles[0]!.filled * 2 > lines.length - firstData &&
    profiles.slice(1).some(isNumericColumn)
  );
}

/** Names of the last header line by column. */
function headerNames(view: SheetView, lines: Line[], header: number[]): Map<number, string> {
  const names = new Map<number, string>();
  const last = header.at(-1);
  if (last === undefined) return names;
  for (let i = lines[last]!.from; i < lines[last]!.to; i += 1) names.set(view.grid.columns[i]!, view.label(i));
  return names;
}
