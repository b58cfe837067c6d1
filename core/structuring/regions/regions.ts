/** From blocks to regions: the table or form in each, the titles above and the notes below it. */

import type { Range } from '../../grid/grid.ts';
import { findHeader } from '../headers/header.ts';
import { isNoteStart, isTotalLabel } from '../names/words.ts';
import { boundsOf, isNumericColumn, isTextColumn, type Line, profileColumns, readLines } from '../sheet/lines.ts';
import { CellClass, key, type SheetView } from '../sheet/sheet.ts';
import { FULL_HEADER_SHARE, MAX_FORM_TITLES, MAX_SETTINGS, MAX_TAIL_CELLS, MIN_WIDE } from '../thresholds.ts';
import { countFields, isForm, isLetter, isToFillIn, readPairs } from './forms.ts';
import { findFilterRow, findMarked, listMarked, type MarkedTable } from './marked.ts';
import { splitSheet } from './split.ts';

export interface FoundTable {
  range: Range;
  headerRows: number[];
  firstDataRow: number;
}

export interface FoundText {
  /** Cells of the text: one, or several that repeat it. */
  from: number;
  to: number;
  range: Range;
}

export interface FoundBlock {
  range: Range;
  table: FoundTable | null;
  /** Lines of label/value pairs. */
  form: { range: Range; lines: Line[] }[];
  above: FoundText[];
  below: FoundText[];
  /** A form stands between the titles and the table. */
  separated: boolean;
}

export function findBlocks(view: SheetView): FoundBlock[] {
  const marked = listMarked(view);
  const blocks = splitSheet(view, marked).map((range) => {
    const own = findMarked(marked, view, range);
    return own ? readMarked(view, range, own) : readBlock(view, range);
  });
  const tables = blocks.flatMap(({ table }) => (table ? [table] : []));
  const widest = Math.max(...tables.map(({ range }) => range.right - range.left + 1));
  if (tables.length > 1) for (const block of blocks) demoteSettings(view, block, widest);
  return blocks;
}

/** A few values with a name beside each, next to real tables: the settings of the sheet, not a table. */
function demoteSettings(view: SheetView, block: FoundBlock, widest: number): void {
  if (!block.table || block.table.headerRows.length > 1) return;
  const lines = readLines(view, block.table.range);
  if (lines.length > MAX_SETTINGS || !lines.every((line) => view.isText(line.from))) return;
  if (block.table.headerRows.length > 0 && (widest < MIN_WIDE || !areMixedPairs(view, lines))) return;
  const profiles = profileColumns(view, block.table.range, lines);
  const used = profiles.filter((profile) => profile.filled > 0);
  const mixed = used.length === 2 && !isNumericColumn(used[1]!) && !isTextColumn(used[1]!);
  if (lines.length > 2 && !mixed && block.table.headerRows.length === 0) return;
  pushForm(block, lines);
  block.table = null;
}

/** One value beside each label, a date here and a number or a text there: nothing that a line of names could stand over. */
function areMixedPairs(view: SheetView, lines: Line[]): boolean {
  const kinds = new Set<string>();
  for (const [k, line] of lines.entries()) {
    if (line.to - line.from > 2 || line.right > lines[0]!.right || isTotalLabel(view.label(line.from))) return false;
    if (line.to - line.from < 2) continue;
    const own = view.classes[line.to - 1];
    const kind = own === CellClass.number || own === CellClass.nullMark ? 'number' : own === CellClass.text ? 'text' : 'date';
    // A text in the first line may be the name of the values.
    if (k > 0 || kind !== 'text') kinds.add(kind);
  }
  return kinds.size > 1;
}

/** A table that the workbook marks, with the lines above and below it. Parents of its names may stand above it. */
function readMarked(view: SheetView, range: Range, { range: own, firstDataRow }: MarkedTable): FoundBlock {
  const block: FoundBlock = { range, table: null, form: [], above: [], below: [], separated: false };
  const lines = readLines(view, range);
  const body = lines.filter((line) => line.row <= own.bottom);
  const first = body.findIndex((line) => line.row >= firstDataRow);
  const shape = findHeader(view, { ...own, top: range.top }, body, first);
  const names = body.flatMap((line, k) => (line.row >= own.top && k < first ? [k] : []));
  const top = Math.min(shape.top, names[0] ?? first);
  readAbove(view, body.slice(0, top), block);
  block.below.push(...lines.slice(body.length).flatMap((line) => readTexts(view, line)));
  const header = [...new Set([...shape.header, ...names])].filter((k) => k >= top).sort((a, b) => a - b);
  block.table = { range: boundsOf(body.slice(top))!, headerRows: header.map((k) => body[k]!.row), firstDataRow: body[first]!.row };
  return block;
}

function readBlock(view: SheetView, range: Range): FoundBlock {
  const block: FoundBlock = { range, table: null, form: [], above: [], below: [], separated: false };
  const lines = readLines(view, range);
  // The pairs at the end of a form are no notes, though pairs below a table may be.
  const bodyEnd = findForm(view, lines) >= 0 ? lines.findLastIndex((line) => line.distinct > 1) + 1 : findNotes(view, lines);
  const body = lines.slice(0, bodyEnd);
  block.below.push(...lines.slice(bodyEnd).flatMap((line) => readTexts(view, line)));
  const bounds = boundsOf(body);
  const formStart = findForm(view, body);
  if (bounds && formStart >= 0) {
    block.above.push(...body.slice(0, formStart).flatMap((line) => readTexts(view, line)));
    pushForm(block, body.slice(formStart));
    return block;
  }
  if (!bounds || !isTabular(body) || isLetterhead(body)) {
    block.above.push(...body.flatMap((line) => readTexts(view, line)));
    return block;
  }
  if (isLetter(view, body)) {
    readAbove(view, body, block);
    return block;
  }
  const shape = findHeader(view, bounds, body, findNamesEnd(view, bounds, body));
  readAbove(view, body.slice(0, shape.top), block);
  const tail = findTail(view, body, shape.firstData, bounds);
  // What is declared above a signature is a note; the rest are pairs.
  for (const line of body.slice(tail)) {
    if (line.distinct === 1 && !isToFillIn(view, line) && view.isText(line.from) && readPairs(view, line) === null)
      block.below.push(...readTexts(view, line));
    else pushForm(block, [line]);
  }
  const table = body.slice(shape.top, tail);
  block.table = {
    range: boundsOf(table)!,
    headerRows: shape.header.map((k) => body[k]!.row),
    firstDataRow: body[shape.firstData]?.row ?? bounds.bottom + 1,
  };
  return block;
}

/** The line below the names, where a filter or a frozen pane shows which line they are; -1 where nothing does. */
function findNamesEnd(view: SheetView, bounds: Range, lines: Line[]): number {
  const filter = findFilterRow(view, bounds);
  const wide = (bounds.right - bounds.left + 1) * FULL_HEADER_SHARE;
  const at = lines.findIndex((line) => {
    if (line.row !== filter && line.row !== view.grid.frozenRow) return false;
    const named = line.distinct > 1 && line.texts + line.periods + line.years === line.to - line.from;
    return named && (line.row === filter || line.distinct >= Math.max(MIN_WIDE, wide));
  });
  return at < 0 ? -1 : at + 1;
}

/** Where the pairs of a form begin, below its titles and a line with its name, number and date; -1 when the lines are no form. */
function findForm(view: SheetView, lines: Line[]): number {
  const first = lines.findIndex((line) => line.distinct > 1);
  if (first < 0) return -1;
  for (let k = first; k < Math.min(first + MAX_FORM_TITLES, lines.length); k += 1) {
    if (isForm(view, lines.slice(k))) return k;
    if (lines[k]!.periods === 0) return -1;
  }
  return -1;
}

/**
 * Pairs of a name and a value after a gap below the table, away from its first column: what a timesheet or an expense form says
 * in the end. Totals stay with the table that they sum.
 */
function findTail(view: SheetView, lines: Line[], firstData: number, bounds: Range): number {
  let tail = findSignatures(view, lines, firstData);
  for (let k = tail - 1; k > firstData + 1; k -= 1) {
    const line = lines[k]!;
    const pairs = line.left > bounds.left && line.distinct <= MAX_TAIL_CELLS ? readPairs(view, line) : null;
    if (!pairs?.every((pair) => pair.values.length > 0) || isTotalLabel(view.label(line.from))) break;
    if (line.row - lines[k - 1]!.row > 1) tail = k;
  }
  return tail;
}

/** Lines to be filled in by hand at the end of a form, with what is declared above them; the number of lines where there are none. */
function findSignatures(view: SheetView, lines: Line[], firstData: number): number {
  let end = lines.length;
  for (let k = lines.length - 1; k > firstData + 1; k -= 1) {
    if (isToFillIn(view, lines[k]!)) end = k;
    else if (lines[k]!.distinct > 1 || lines[k]!.texts === 0) break;
  }
  if (end === lines.length) return end;
  while (end - 1 > firstData && lines[end - 1]!.distinct === 1 && lines[end - 1]!.texts > 0) end -= 1;
  return end;
}

/** Lines above a table: pairs of a form where they are such, titles otherwise. */
function readAbove(view: SheetView, lines: Line[], block: FoundBlock): void {
  for (const line of lines) {
    const pairs = line.distinct > 1 ? readPairs(view, line) : null;
    if (pairs?.some((pair) => pair.values.length > 0) || (line.distinct > 2 && countFields(view, line) > 0)) {
      pushForm(block, [line]);
      block.separated = true;
    } else {
      block.above.push(...readTexts(view, line));
      // A title below the form is next to the table again.
      if (line.distinct === 1) block.separated = false;
    }
  }
}

function pushForm(block: FoundBlock, lines: Line[]): void {
  const last = block.form.at(-1);
  if (last && last.range.bottom === lines[0]!.row - 1) {
    last.lines.push(...lines);
    last.range = boundsOf(last.lines)!;
  } else block.form.push({ range: boundsOf(lines)!, lines: [...lines] });
}

/** The texts of a line: each cell its own, a value repeated side by side once. */
function readTexts(view: SheetView, line: Line): FoundText[] {
  const texts: FoundText[] = [];
  const { grid } = view;
  for (let i = line.from; i < line.to; i += 1) {
    const column = grid.columns[i]!;
    const last = texts.at(-1);
    if (last && grid.texts[i]! >= 0 && grid.texts[i] === grid.texts[i - 1] && grid.columns[i - 1] === column - 1) {
      last.to = i + 1;
      last.range.right = column;
      continue;
    }
    const merge = view.mergeAt.get(key(line.row, column));
    texts.push({ from: i, to: i + 1, range: merge ? { ...merge } : { top: line.row, left: column, bottom: line.row, right: column } });
  }
  return texts;
}

/** One line is a table only when nothing else is there to be one; cells one below another are a list of texts. */
function isTabular(lines: Line[]): boolean {
  return lines.filter((line) => line.distinct > 1).length > 1 || (lines.some((line) => line.distinct > 1) && lines.length > 2);
}

/** Texts at the left and at the right with nothing between them, on a few lines: sender and receiver of a letter or an invoice. */
function isLetterhead(lines: Line[]): boolean {
  if (lines.length > MAX_SETTINGS || lines.some((line) => line.numbers + line.years > 0 || line.filled > 0)) return false;
  const pairs = lines.filter((line) => line.distinct > 1);
  const { left, right } = pairs[0]!;
  return right - left > 2 && pairs.every((line) => line.distinct === 2 && line.left === left && line.right === right);
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
    // A name in bold with its value beside it belongs to a form.
    if (pair && !marked && view.style(line.from).bold && !view.style(line.to - 1).bold) break;
    if (view.isFramed(lines[k - 1]!.row, line.row, bounds.left, bounds.right)) break;
    const gap = line.row - lines[k - 1]!.row > 1;
    // Nothing is listed below the total of a table.
    const closed =
      single && k > 2 && isTotalLabel(view.label(lines[k - 1]!.from)) && lines[k - 1]!.numbers > 0 && !isTotalLabel(view.label(line.from));
    if (gap || marked || closed || (line.prose && line.left === bounds.left)) end = k;
  }
  return end;
}
