/** Label/value pairs: the blocks of an application form, and the lines above an invoice's table. */

import { isFillIn } from '../names/words.ts';
import type { Line } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { MAX_FORM_LINES } from '../thresholds.ts';

interface FormPair {
  label: number;
  values: number[];
}

/** A cell that names the cell beside it: it ends with a colon, or is set apart by its style. */
function isFormLabel(view: SheetView, i: number): boolean {
  if (!view.isText(i)) return false;
  const style = view.style(i);
  return style.bold || style.filled || /[:：]$/.test(view.label(i));
}

/** A line to be filled in by hand: a signature, its date. */
export function isToFillIn(view: SheetView, line: Line): boolean {
  for (let i = line.from; i < line.to; i += 1) if (isFillIn(view.label(i))) return true;
  return false;
}

/** The pairs of a line; null when it does not start with a label. */
export function readPairs(view: SheetView, line: Line): FormPair[] | null {
  const pairs: FormPair[] = [];
  for (let i = line.from; i < line.to; i += 1) {
    const open = i + 1 < line.to && view.isText(i) && isFillIn(view.label(i + 1));
    if (isFormLabel(view, i) || open) pairs.push({ label: i, values: [] });
    else if (pairs.length === 0) return null;
    else pairs.at(-1)!.values.push(i);
  }
  return pairs;
}

/** Lines of pairs whose labels keep to their columns; a header line (labels only) rules it out. */
export function isForm(view: SheetView, lines: Line[]): boolean {
  if (lines.length < 2 || lines.length > MAX_FORM_LINES) return false;
  const labelColumns = new Set<number>();
  const valueColumns = new Set<number>();
  let fitting = 0;
  let values = 0;
  let numbers = 0;
  for (const [k, line] of lines.entries()) {
    const pairs = readPairs(view, line);
    if (!pairs) continue;
    const own = pairs.reduce((n, pair) => n + pair.values.length, 0);
    if (k === 0 && own === 0 && pairs.length > 1) return false;
    if (own === 0 && pairs.length > 1) continue;
    fitting += 1;
    values += own;
    numbers += line.numbers;
    for (const pair of pairs) {
      labelColumns.add(view.grid.columns[pair.label]!);
      for (const value of pair.values) valueColumns.add(view.grid.columns[value]!);
    }
  }
  for (const column of valueColumns) if (labelColumns.has(column)) return false;
  // Numbers in most places make it a small table with bold row names.
  return fitting >= lines.length * 0.8 && values * 2 >= lines.length && numbers * 2 <= values && labelColumns.size <= 4;
}
