/** Label/value pairs: the blocks of an application form, and the lines above an invoice's table. */

import { isFieldName, isFillIn } from '../names/words.ts';
import type { Line } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { MAX_FORM_LINES, MAX_SETTINGS, MAX_TAIL_CELLS } from '../thresholds.ts';

interface FormPair {
  label: number;
  values: number[];
}

/** A cell that names the cell beside it: it ends with a colon, or is set apart by its style. */
function isFormLabel(view: SheetView, i: number): boolean {
  if (!view.isText(i)) return false;
  const style = view.style(i);
  const label = view.label(i);
  // An amount is set in bold as well.
  return ((style.bold || style.filled) && !/^[¥￥$€£\d]/.test(label)) || /[:：]$/.test(label);
}

/** A line to be filled in by hand: a signature, its date. */
export function isToFillIn(view: SheetView, line: Line): boolean {
  for (let i = line.from; i < line.to; i += 1) if (isFillIn(view.label(i))) return true;
  return false;
}

/** A place to fill in stands beside it, or it is what fields are called and the next cell is not. */
function isAsked(view: SheetView, line: Line, i: number): boolean {
  if (!view.isText(i)) return false;
  const next = i + 1 < line.to ? view.label(i + 1) : null;
  if (next !== null && isFillIn(next)) return true;
  return isFieldName(view.label(i)) && (next === null ? i > line.from : !isFieldName(next));
}

/** The pairs of a line; null when it does not start with a label. */
export function readPairs(view: SheetView, line: Line): FormPair[] | null {
  const pairs = readFormLine(view, line);
  return isLabel(view, line, pairs[0]!.label) ? pairs : null;
}

/** The same of any line of a form: what stands before its first label, as the second line of an address does, is a pair of its own. */
export function readFormLine(view: SheetView, line: Line): FormPair[] {
  const pairs: FormPair[] = [];
  for (let i = line.from; i < line.to; i += 1) {
    if (pairs.length === 0 || isLabel(view, line, i)) pairs.push({ label: i, values: [] });
    else pairs.at(-1)!.values.push(i);
  }
  return pairs;
}

function isLabel(view: SheetView, line: Line, i: number): boolean {
  return isFormLabel(view, i) || isAsked(view, line, i);
}

/** Pairs of a line that words or a colon show, whatever stands before them. */
export function countFields(view: SheetView, line: Line): number {
  return readFormLine(view, line).filter(
    ({ label, values }) => values.length > 0 && view.isText(label) && (isAsked(view, line, label) || /[:：]$/.test(view.label(label))),
  ).length;
}

/** A few lines with names and values here and there among texts: the head of a letter or an invoice, and nothing to tabulate. */
export function isLetter(view: SheetView, lines: Line[]): boolean {
  if (lines.length > MAX_SETTINGS) return false;
  let fields = 0;
  for (const line of lines) {
    if (line.distinct > MAX_TAIL_CELLS) return false;
    const own = countFields(view, line);
    if (own === 0 && (line.distinct > 2 || line.numbers > 0)) return false;
    fields += own;
  }
  return fields > 1;
}

/** Nothing but what stands below other values: the next line of an address, or its next lines beside further pairs. */
function goesOn(view: SheetView, line: Line, valueColumns: Set<number>): boolean {
  const [first, ...others] = readFormLine(view, line);
  return (
    [first!.label, ...first!.values].every((i) => valueColumns.has(view.grid.columns[i]!)) &&
    others.every(({ values }) => values.length > 0)
  );
}

/** Names over two lines or more that are filled below them; a line of names with one line below it may be boxes for seals. */
function isNamesOfRows(view: SheetView, pairs: FormPair[], below: Line[]): boolean {
  const columns = new Set(pairs.map(({ label }) => view.grid.columns[label]!));
  const isRow = (line: Line) => {
    let under = 0;
    for (let i = line.from; i < line.to; i += 1) if (columns.has(view.grid.columns[i]!)) under += 1;
    return under > 2;
  };
  return pairs.length > 2 && below.length > 1 && below.every(isRow);
}

/** Lines of pairs whose labels keep to their columns; a header line (labels only) rules it out. */
export function isForm(view: SheetView, lines: Line[]): boolean {
  if (lines.length < 2 || lines.length > MAX_FORM_LINES) return false;
  const labelColumns = new Set<number>();
  const valueColumns = new Set<number>();
  let fitting = 0;
  let continued = 0;
  let values = 0;
  let numbers = 0;
  let labels = 0;
  for (const [k, line] of lines.entries()) {
    const pairs = readPairs(view, line);
    if (!pairs) {
      if (!goesOn(view, line, valueColumns)) continue;
      if (readFormLine(view, line).length > 1) fitting += 1;
      else continued += 1;
      continue;
    }
    const own = pairs.reduce((n, pair) => n + pair.values.length, 0);
    if (k === 0 && own === 0 && pairs.length > 1) return false;
    if (own === 0 && isNamesOfRows(view, pairs, lines.slice(k + 1, k + 3))) return false;
    if (own === 0 && pairs.length > 1) continue;
    fitting += 1;
    labels += pairs.length;
    values += own;
    numbers += line.numbers;
    for (const pair of pairs) {
      labelColumns.add(view.grid.columns[pair.label]!);
      for (const value of pair.values) valueColumns.add(view.grid.columns[value]!);
    }
  }
  for (const column of valueColumns) if (labelColumns.has(column)) return false;
  // A name with value after value beside it heads a row of a table that lies on its side.
  if (values > labels * 2) return false;
  // What goes on for longer than it is named is prose beside its headings.
  if (continued > fitting) return false;
  // Numbers in most places make it a small table with bold row names.
  return fitting + continued >= lines.length * 0.8 && values * 2 >= lines.length && numbers * 2 <= values && labelColumns.size <= 4;
}
