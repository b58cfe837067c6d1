/** From blocks to regions: the table in each, the titles above and the notes below it. */

import type { Range } from '../grid/grid.js';
import { findHeader } from './header.js';
import { type Line, boundsOf, readLines } from './lines.js';
import { CellClass, type SheetView } from './sheet.js';
import { splitSheet } from './split.js';
import { findTotalRows } from './totals.js';
import { isNoteStart } from './words.js';

export interface FoundTable {
  range: Range;
  headerRows: number[];
  firstDataRow: number;
  totalRows: number[];
}

export interface FoundRegions {
  tables: FoundTable[];
  /** Ranges of single lines outside the tables, in sheet order. */
  texts: Range[];
}

export function findRegions(view: SheetView): FoundRegions {
  const found: FoundRegions = { tables: [], texts: [] };
  for (const block of splitSheet(view)) readBlock(view, block, found);
  return found;
}

function readBlock(view: SheetView, block: Range, found: FoundRegions): void {
  const lines = readLines(view, block);
  const bodyEnd = findNotes(view, lines);
  const body = lines.slice(0, bodyEnd);
  const bounds = boundsOf(body);
  if (!bounds || !isTabular(body)) {
    for (const line of lines) found.texts.push(rangeOfLine(line));
    return;
  }
  const shape = findHeader(view, bounds, body);
  const table = body.slice(shape.top);
  const range = boundsOf(table)!;
  for (const line of body.slice(0, shape.top)) found.texts.push(rangeOfLine(line));
  for (const line of lines.slice(bodyEnd)) found.texts.push(rangeOfLine(line));
  const dataLines = body.slice(shape.firstData);
  found.tables.push({
    range,
    headerRows: shape.header.map((k) => body[k]!.row),
    firstDataRow: dataLines[0]?.row ?? range.bottom + 1,
    totalRows: findTotalRows(view, range, dataLines),
  });
}

/** One line is a table only when nothing else is there to be one; cells one below another are a list of texts. */
function isTabular(lines: Line[]): boolean {
  return lines.filter((line) => line.distinct > 1).length > 1 || (lines.some((line) => line.distinct > 1) && lines.length > 2);
}

function rangeOfLine(line: Line): Range {
  return { top: line.row, bottom: line.row, left: line.left, right: line.right };
}

/** Index of the first line of the notes at the end of a block; the number of lines when there are none. */
function findNotes(view: SheetView, lines: Line[]): number {
  const bounds = boundsOf(lines);
  if (!bounds) return 0;
  const wide = bounds.right - bounds.left >= 3;
  let end = lines.length;
  for (let k = lines.length - 1; k > 0; k -= 1) {
    const line = lines[k]!;
    const marked = isNoteStart(view.label(line.from));
    const wordy = line.years === 0 && (line.numbers === 0 || view.classes[line.from] === CellClass.nullMark);
    const single = line.distinct === 1 && wordy;
    // Notes in two cells: a mark or a word such as "Source:" and the text beside it.
    const pair = line.distinct === 2 && line.numbers + line.years === 0 && (marked || wide);
    if (!single && !pair) break;
    const gap = line.row - lines[k - 1]!.row > 1;
    if (gap || marked || (line.prose && line.left === bounds.left)) end = k;
  }
  return end;
}
