/** Where the titles above a table end, which rows are its header, and where its data begins. */

import type { Range } from '../../grid/grid.ts';
import { parsePeriod } from '../../period/period.ts';
import { isAsOf, isFieldName, isFillIn, isNoteStart, isNumberedTitle, isRangeMark, isUnitLine } from '../names/words.ts';
import { type ColumnProfile, isColumnOfDigits, isFiller, type Line, profileColumns } from '../sheet/lines.ts';
import { CellClass, key, type SheetView } from '../sheet/sheet.ts';
import { FULL_HEADER_SHARE, HEADER_GAP_ROWS, MAX_HEADER_ROWS, MAX_TITLE_LINES, MAX_YEAR_STEP } from '../thresholds.ts';

export interface HeaderShape {
  /** Index of the first line that belongs to the table; the ones before are titles. */
  top: number;
  /** Indices of the header lines. */
  header: number[];
  /** Index of the first line with data. */
  firstData: number;
}

interface Evidence {
  header: number;
  data: number;
}

/** `known` is the first line with data where the workbook itself says so: below the names that carry a filter. */
export function findHeader(view: SheetView, block: Range, lines: Line[], known = -1): HeaderShape {
  const profiles = profileColumns(view, block, bodyLines(lines));
  if (known > 0 && known < lines.length) {
    const shape = growHeader(view, block, lines, profiles, known);
    return shape.header.includes(known - 1) ? shape : { top: known - 1, header: [known - 1], firstData: known };
  }
  const limit = Math.min(lines.length, 40);
  const columns = profiles.filter((profile) => profile.filled > 0).length;
  let firstData = -1;
  let full: Line | null = null;
  let named = false;
  for (let k = 0; k < limit; k += 1) {
    const line = lines[k]!;
    const evidence = weighLine(view, block, line, profiles);
    // Below a header that names every column, a line that names none is data even without a number.
    const reach = Math.min(line.distinct, countOver(view, block, line, profiles));
    const sparse = full !== null && evidence.header <= reach * 0.15 && line.distinct > 1 && !isStyledAlike(full, line);
    // A date or a number alone above the first names is the date or the number of the sheet.
    const alone = (line.distinct === 1 && !named) || isNumberingOf(view, block, line, lines[k + 1], profiles);
    if ((evidence.data > evidence.header && !alone) || sparse) {
      firstData = k;
      break;
    }
    if (evidence.header > 0 && line.distinct > 1) named = true;
    if (evidence.header >= 2 && line.distinct >= columns * FULL_HEADER_SHARE) full = line;
  }
  if (firstData < 0) return headerOfTextTable(view, lines);
  return growHeader(view, block, lines, profiles, firstData);
}

/** Cells of a line that stand over columns with something in them: days of a calendar that nobody has filled in do not count. */
function countOver(view: SheetView, block: Range, line: Line, profiles: ColumnProfile[]): number {
  let count = 0;
  for (let i = line.from; i < line.to; i += 1) if (profiles[view.grid.columns[i]! - block.left]!.filled > 0) count += 1;
  return count;
}

/** Bold or filled like a header above it. */
function isStyledAlike(header: Line, line: Line): boolean {
  const share = (n: number, of: Line) => n / (of.to - of.from) > 0.5;
  return (share(header.bold, header) && share(line.bold, line)) || (share(header.filled, header) && share(line.filled, line));
}

export function isFilled(line: Line): boolean {
  return line.filled * 2 > line.to - line.from;
}

/** The lower part of a block tells what its columns hold; lines of one cell tell nothing. */
function bodyLines(lines: Line[]): Line[] {
  const wide = lines.filter((line) => line.distinct > 1);
  const from = Math.min(Math.floor(wide.length / 3), 12);
  return wide.length > 1 ? wide.slice(Math.max(1, from)) : wide;
}

/** Votes of one line: a text over numbers says header, a number among numbers says data. */
export function weighLine(view: SheetView, block: Range, line: Line, profiles: ColumnProfile[]): Evidence {
  const evidence: Evidence = { header: 0, data: 0 };
  // Nothing but marks: a rule drawn with dashes, or the lower part of a tall header.
  if (isRuled(line)) return evidence;
  let marks = 0;
  // Of the whole line, so it is found out once, and only if a year asks for it.
  let areYears: boolean | null = null;
  const isLineOfYears = () => {
    areYears ??= (line.numbers === line.marks || line.counting) && readsAsYears(view, line);
    return areYears;
  };
  for (let i = line.from; i < line.to; i += 1) {
    const profile = profiles[view.grid.columns[i]! - block.left]!;
    if (profile.filled === 0) continue;
    const numeric = isColumnOfDigits(profile);
    const ofYears = profile.years > profile.numbers;
    const ofDates = profile.dates * 2 > profile.filled;
    switch (view.classes[i]) {
      case CellClass.number:
        if (numeric && (line.counting || isUnitMark(view, line, i))) evidence.header += 1;
        else if (numeric) evidence.data += 1;
        else if (ofDates) evidence.header += 0.5;
        break;
      case CellClass.nullMark:
        if (numeric) marks += 1;
        break;
      case CellClass.year:
        if (numeric && ofYears) evidence.data += 1;
        else if (numeric && isLineOfYears()) evidence.header += 1;
        else if (numeric) evidence.data += 1;
        break;
      case CellClass.date:
      case CellClass.period:
        if (ofDates) evidence.data += 1;
        else if (numeric) evidence.header += 1;
        break;
      case CellClass.code:
        if (numeric) evidence.data += 1;
        break;
      default:
        if (isFiller(profile, view.grid.texts[i]!)) evidence.data += 1;
        else if (numeric || ofDates) evidence.header += 1;
    }
  }
  // Beside names over columns of numbers, marks only fill the places of a header that has no name there.
  if (evidence.header === 0 || evidence.data > 0) evidence.data += marks;
  return evidence;
}

/** The years of a header lie close together; amounts that look like years do not. */
function readsAsYears(view: SheetView, line: Line): boolean {
  const years = new Set<number>();
  for (let i = line.from; i < line.to; i += 1) if (view.classes[i] === CellClass.year) years.add(Math.abs(view.numeric(i) ?? 0));
  const sorted = [...years].sort((a, b) => a - b);
  return sorted.every((year, k) => k === 0 || year - sorted[k - 1]! <= MAX_YEAR_STEP);
}

/** Marks from side to side: no values, and no names. */
function isRuled(line: Line): boolean {
  return line.marks === line.to - line.from && line.marks > 1;
}

/** `(1,000)` over several columns says in what the figures are counted. */
function isUnitMark(view: SheetView, line: Line, i: number): boolean {
  const id = view.grid.texts[i]!;
  if (id < 0 || !/^\(1(?:,000)+\)$/.test(view.grid.strings[id]!.trim())) return false;
  return (i > line.from && view.grid.texts[i - 1] === id) || (i + 1 < line.to && view.grid.texts[i + 1] === id);
}

/** Walks up from the first data line and takes the lines that read as its header. */
function growHeader(view: SheetView, block: Range, lines: Line[], profiles: ColumnProfile[], firstData: number): HeaderShape {
  const header: number[] = [];
  // Lines that count only when a header line is found above them.
  let pending: number[] = [];
  let dataTop = firstData;
  let below = lines[firstData]!.row;
  for (let k = firstData - 1; k >= 0 && header.length < MAX_HEADER_ROWS; k -= 1) {
    const line = lines[k]!;
    if (below - line.row - 1 > HEADER_GAP_ROWS && !(k === firstData - 1 && namesAll(line, profiles))) break;
    const verdict = judgeHeaderLine(view, block, lines, k, profiles, header.length > 0, below);
    if (verdict === 'stop') break;
    below = line.row;
    if (verdict === 'group') {
      dataTop = k;
      pending = [];
    } else if (verdict === 'pending') {
      pending.push(k);
    } else {
      header.push(...pending, k);
      pending = [];
    }
  }
  header.reverse();
  return { top: header[0] ?? dataTop, header, firstData: dataTop };
}

/** Names for nearly all columns: the header of what follows, however many lines of a form are left blank between them. */
function namesAll(line: Line, profiles: ColumnProfile[]): boolean {
  const columns = profiles.filter((profile) => profile.filled > 0).length;
  return line.texts === line.to - line.from && line.distinct >= Math.max(4, columns * FULL_HEADER_SHARE);
}

type Verdict = 'header' | 'pending' | 'group' | 'stop';

function judgeHeaderLine(
  view: SheetView,
  block: Range,
  lines: Line[],
  k: number,
  profiles: ColumnProfile[],
  started: boolean,
  below: number,
): Verdict {
  const line = lines[k]!;
  const gap = below - line.row - 1;
  const first = view.label(line.from);
  if (isRuled(line)) return 'pending';
  for (let i = line.from; i < line.to; i += 1) if (isFillIn(view.label(i))) return 'stop';
  if (isUnitLine(first) && line.distinct === 1) return started ? 'stop' : 'pending';
  if (started && isAboveHeader(view, block, line, lines[k + 1]!)) return 'stop';
  // `Ship date:` with nothing beside it, right above names for every column: a line of a form that nobody has filled in.
  if (started && line.distinct === 1 && /[:：]$/.test(first) && namesAll(lines[k + 1]!, profiles)) return 'stop';
  if (line.distinct === 1 && isNumberedTitle(first)) return 'stop';
  if (line.distinct === 1) {
    // Below a line that names every column a text over no figures has nothing to name: it opens the first group.
    const complete = !started && k > 0 && lines[k - 1]!.row === line.row - 1 && line.texts === 1 && namesAll(lines[k - 1]!, profiles);
    if (complete && weighLine(view, block, line, profiles).header === 0) return 'group';
    const place = placeOfSingle(view, block, line);
    // The same name over every column of figures, right below other names.
    const above = lines[k - 1];
    const repeats = line.to - line.from > 1 && line.left > block.left && above !== undefined && above.distinct > 1;
    if (repeats && !line.prose && above.row === line.row - 1 && gap === 0) return 'header';
    if (place === 'whole' && !started && !line.prose && hasWideLineAbove(lines, k, below)) return 'group';
    // A long name reads like prose; right below other names it is one of them.
    const named = place === 'inner' && k > 0 && lines[k - 1]!.distinct > 1 && lines[k - 1]!.row === line.row - 1;
    if (place === 'whole' || (line.prose && !named)) return 'stop';
    if (place === 'left') {
      // A label alone above the data opens a group, when a header stands further up.
      if (!started && gap > 0 && namesLabels(lines, k)) return 'header';
      if (!started) return hasWideLineAbove(lines, k, below) ? 'group' : 'stop';
      return 'pending';
    }
    if (gap > 0 && !started && hasWideLineAbove(lines, k, below)) return 'group';
    // Titles are centred over a table as well; below titles at the left edge it is a header.
    if (gap > 0 && (lines[0]!.distinct > 1 || lines[0]!.left !== block.left || k === 0)) return 'stop';
    return weighLine(view, block, line, profiles).header > 0 || gap === 0 ? 'header' : 'pending';
  }
  const evidence = weighLine(view, block, line, profiles);
  // `Source | Amount` right over figures are names, though notes begin so.
  const isNamed = !started && gap === 0 && evidence.header > 0 && evidence.data === 0 && !/[:：]/.test(first);
  if (isNoteStart(first) && line.distinct < 3 && !isNamed) return 'stop';
  if (isNumberingOf(view, block, line, lines[k + 1], profiles)) return 'header';
  // Numbers where numbers stand are values: label/value pairs above the table.
  if (started && evidence.data >= 1 && evidence.data >= evidence.header) return 'stop';
  // Names for every column may end with a colon.
  if (started && ((isFormLine(view, line) && !namesAll(line, profiles)) || isDated(view, line, nextNames(lines, k), evidence.header)))
    return 'stop';
  // Names over no column of numbers, far from the header and close to the data: the first group of the data.
  if (!started && evidence.header === 0 && gap === 0 && k > 0 && line.row - lines[k - 1]!.row > 1 && hasWideLineAbove(lines, k, below))
    return 'group';
  if (!started) return 'header';
  return evidence.header >= 1 || gap === 0 ? 'header' : 'pending';
}

/** One or two cells above a header that are no part of it. */
function isAboveHeader(view: SheetView, block: Range, line: Line, header: Line): boolean {
  // A text without a fill above a header that has one.
  if (line.distinct === 1) return isFilled(header) && !isFilled(line);
  if (line.distinct > 2 || line.marks > 0) return false;
  // A text repeated over some of the columns names what they have in common.
  if (line.to - line.from > line.distinct + 1 && view.grid.columns[line.from + 1]! > block.left + 1) return false;
  const last = view.label(line.to - 1);
  // A title, and at the other end of the table its unit.
  if (line.right >= block.right - 1 && /^[(（[［【]|単位/.test(last) && isUnitLine(last)) return true;
  if (line.left !== block.left) return false;
  // A label with its value beside it, a blank row above the header.
  if (header.row - line.row > 1 && line.right === line.left + 1 && block.right > line.right + 1) return true;
  // A title and something beside it, above names for every column.
  const width = block.right - block.left + 1;
  return header.distinct >= Math.max(4, width * FULL_HEADER_SHARE) && !fillsBlanks(view, line, header);
}

/** Every cell stands over a blank one: `Item | Unit` above a line of years that starts beside them. */
export function fillsBlanks(view: SheetView, line: Line, below: Line): boolean {
  const { columns } = view.grid;
  const filled = new Set(columns.subarray(below.from, below.to));
  return !columns.subarray(line.from, line.to).some((column) => filled.has(column));
}

/** `Company:` beside a value is a pair of a form, not a pair of names; `Notes:` with nothing beside it is a name. */
function isFormLine(view: SheetView, line: Line): boolean {
  for (let i = line.from; i + 1 < line.to; i += 1) if (view.isText(i) && /[:：]$/.test(view.label(i))) return true;
  return isPairOfForm(view, line);
}

/** `社員番号 | 00123 | 氏名 | 佐藤`: what fields are called, each with something beside it that is no such name, and nothing else. */
function isPairOfForm(view: SheetView, line: Line): boolean {
  let values = 0;
  let named = false;
  for (let i = line.from; i < line.to; i += 1) {
    const isName = view.isText(i) && isFieldName(view.label(i));
    // `4/17 | ～ | 4/19` is one value.
    if (!isName && values > 0 && (isRangeMark(view.label(i)) || isRangeMark(view.label(i - 1)))) continue;
    if (isName === named) return false;
    // A name with its value a few columns away may as well be two names.
    if (!isName && view.isText(i) && view.grid.columns[i]! > view.grid.columns[i - 1]! + 1 && line.distinct < 3) return false;
    if (!isName) values += 1;
    named = isName;
  }
  return values > 0;
}

/** Lines of a form with more in them than one text beside a name, which may be two names of columns. */
function isFilledForm(view: SheetView, lines: Line[]): boolean {
  return isFormLine(view, lines[0]!) && (lines.length > 1 || lines.some((line) => line.distinct > 2 || line.texts < line.to - line.from));
}

/** The line of several names nearest below. */
function nextNames(lines: Line[], k: number): Line {
  let next = k + 1;
  while (next + 1 < lines.length && lines[next]!.distinct < 2) next += 1;
  return lines[next]!;
}

/** A date beside its name, or `as of` a day, above names for many more columns: when the sheet was written, and for when. */
function isDated(view: SheetView, line: Line, header: Line, named: number): boolean {
  if (line.distinct > 4 || header.distinct < Math.max(4, line.distinct * 2)) return false;
  for (let i = line.from; i < line.to && named < 2; i += 1) if (view.isText(i) && isAsOf(view.label(i))) return true;
  if (line.periods !== 1) return false;
  for (let i = line.from + 1; i < line.to; i += 1) if (view.classes[i] === CellClass.date) return view.classes[i - 1] === CellClass.text;
  return false;
}

/** The numbers of the columns, right above a line that names every one of them. */
function isNumberingOf(view: SheetView, block: Range, line: Line, next: Line | undefined, profiles: ColumnProfile[]): boolean {
  if (!next || next.row !== line.row + 1 || next.texts < next.to - next.from || next.distinct < 2) return false;
  if (next.to - next.from < line.to - line.from || line.numbers === 0 || line.texts > 1) return false;
  let last = 0;
  for (let i = line.from; i < line.to; i += 1) {
    if (view.classes[i] !== CellClass.number) continue;
    if (view.numeric(i) !== last + 1) return false;
    last += 1;
  }
  const named = weighLine(view, block, next, profiles);
  return last > 0 && named.data === 0 && named.header >= last;
}

/** `State` at the foot of a header whose other lines leave the column of labels blank, with a gap below it. */
function namesLabels(lines: Line[], k: number): boolean {
  let j = k - 1;
  for (; j >= 0 && lines[j]!.row === lines[j + 1]!.row - 1; j -= 1) if (lines[j]!.left === lines[k]!.left) return false;
  return k - j > 1 && lines[k - 1]!.distinct > 1;
}

function hasWideLineAbove(lines: Line[], k: number, below: number): boolean {
  for (let j = k - 1; j >= 0 && j >= k - 3; j -= 1) {
    if (lines[j]!.distinct > 1) return below - lines[j]!.row <= 8;
  }
  return false;
}

/** Where the only cell of a line stands: at the left edge, over the whole width, or above some columns. */
export function placeOfSingle(view: SheetView, block: Range, line: Line): 'left' | 'whole' | 'inner' {
  const merge = view.mergeAt.get(key(line.row, line.left));
  const right = Math.max(merge?.right ?? line.left, line.right);
  // `2023年度` over all columns but the labels names what the figures are of.
  const besideLabels = line.left === block.left + 1 && merge !== undefined && merge.right > merge.left;
  if (besideLabels && parsePeriod(view.label(line.from)) !== null) return 'inner';
  if (right > line.left && line.left <= block.left + 1 && right >= block.right - 1) return 'whole';
  return line.left === block.left ? 'left' : 'inner';
}

/** Without numbers only position and style can tell: the first full line is the header. */
function headerOfTextTable(view: SheetView, lines: Line[]): HeaderShape {
  let top = lines.findIndex((line) => line.distinct > 1);
  // The pairs of a form above it, as long as a line of names follows.
  const names = lines.findIndex((line, k) => k > top && line.distinct > 1 && !isFormLine(view, line));
  if (top >= 0 && names > top && lines.length - names > 1 && isFilledForm(view, lines.slice(top, names))) top = names;
  if (top < 0) return { top: 0, header: [], firstData: 0 };
  const widest = Math.max(...lines.map((line) => line.distinct));
  // Lines much narrower than the table are still part of the titles, until one of its width comes.
  const full = lines.slice(top, top + MAX_TITLE_LINES * 2).findIndex((line) => line.distinct * 2 >= widest);
  if (full > 0 && lines.slice(top, top + full).every((line) => line.distinct * 3 <= widest)) top += full;
  // The first line with a fill that names every column, below lines without one.
  const filled = lines.slice(top, top + MAX_TITLE_LINES).findIndex((line) => isFilled(line) && line.distinct === widest);
  if (filled > 0 && widest > 2 && !lines.slice(top, top + filled).some((line) => isFilled(line) || line.distinct * 2 > widest))
    top += filled;
  if (lines.length - top < 2) return { top, header: [], firstData: top };
  const header = [top];
  const styled = (line: Line) => line.bold * 2 > line.to - line.from || line.filled * 2 > line.to - line.from;
  if (styled(lines[top]!)) {
    for (let k = top + 1; k < lines.length - 1 && header.length < MAX_HEADER_ROWS; k += 1) {
      if (!styled(lines[k]!) || lines[k]!.row !== lines[k - 1]!.row + 1 || lines[k]!.distinct < 2) break;
      header.push(k);
    }
    if (header.length * 2 > lines.length - top) header.length = 1;
  }
  const parent = lines[top - 1];
  // Merged over some of the columns, right above their names: what they have in common.
  if (parent && parent.row === lines[top]!.row - 1 && parent.left > lines[top]!.left && parent.right > parent.left) header.unshift(top - 1);
  return { top: header[0]!, header, firstData: header.at(-1)! + 1 };
}
