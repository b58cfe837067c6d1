/** Column names from header rows: merged cells filled, parents joined to children. */

import type { Range } from '../grid/grid.ts';
import { cleanName } from './names.ts';
import type { SheetView } from './sheet.ts';
import { key } from './sheet.ts';

export interface HeaderColumn {
  column: number;
  /** Header texts from the outermost to the innermost. */
  parts: string[];
  /** For each part the day it stands for, where the header cell is a real date. */
  days: (string | null)[];
}

/** The columns of a table that hold a header or a value, with the parts of their names. */
export function readHeaderColumns(view: SheetView, range: Range, headerRows: number[], dataTop: number): HeaderColumn[] {
  const width = range.right - range.left + 1;
  const used = markUsedColumns(view, range, dataTop);
  const rows = headerRows.map((row) => readHeaderRow(view, range, row));
  const filled = rows.map((cells, k) => fillParents(cells, rows, k, width));
  const columns: HeaderColumn[] = [];
  for (let c = 0; c < width; c += 1) {
    const parts: string[] = [];
    const days: (string | null)[] = [];
    for (const row of filled) {
      const cell = row[c];
      if (!cell || cell.text === '' || parts.at(-1) === cell.text) continue;
      parts.push(cell.text);
      days.push(cell.day);
    }
    if (parts.length === 0 && !used[c]) continue;
    // A parent that only reaches over a blank spacer column names nothing there.
    if (!used[c] && !rows.some((row) => row[c]?.own)) continue;
    columns.push({ column: range.left + c, parts, days });
  }
  return columns;
}

function markUsedColumns(view: SheetView, range: Range, dataTop: number): Uint8Array {
  const used = new Uint8Array(range.right - range.left + 1);
  for (let index = view.rowIndex(dataTop); index < view.rows.length && view.rows[index]! <= range.bottom; index += 1) {
    const [from, to] = view.cellsOfRow(index, range.left, range.right);
    for (let i = from; i < to; i += 1) used[view.grid.columns[i]! - range.left] = 1;
  }
  return used;
}

interface HeaderCell {
  text: string;
  day: string | null;
  own: boolean;
  /** Reaches to this column by a merge; 0 when it is not merged across. */
  reach: number;
}

function readHeaderRow(view: SheetView, range: Range, row: number): (HeaderCell | undefined)[] {
  const cells: (HeaderCell | undefined)[] = [];
  const index = view.rowIndex(row);
  if (view.rows[index] !== row) return cells;
  const [from, to] = view.cellsOfRow(index, range.left, range.right);
  for (let i = from; i < to; i += 1) {
    const column = view.grid.columns[i]!;
    const merge = view.mergeAt.get(key(row, column));
    cells[column - range.left] = {
      text: cleanName(view.label(i)),
      day: view.day(i),
      own: true,
      reach: merge && merge.right > column ? merge.right - range.left : 0,
    };
  }
  return cells;
}

/** Spreads a parent to the right: over its merge, or over unmerged columns that have a child below while the parent has one too. */
function fillParents(
  cells: (HeaderCell | undefined)[],
  rows: (HeaderCell | undefined)[][],
  k: number,
  width: number,
): (HeaderCell | undefined)[] {
  const texts: (HeaderCell | undefined)[] = [];
  const hasChild = (c: number) => rows.slice(k + 1).some((row) => row[c]?.own);
  for (let c = 0; c < width; c += 1) {
    const cell = cells[c];
    if (!cell) continue;
    texts[c] = cell;
    let end = Math.min(cell.reach, width - 1);
    if (end === 0 && hasChild(c)) {
      end = c;
      while (end + 1 < width && !cells[end + 1] && (hasChild(end + 1) || !rows.some((row) => row[end + 1]))) end += 1;
      while (end > c && !hasChild(end)) end -= 1;
    }
    for (let n = c + 1; n <= end; n += 1) if (!cells[n]) texts[n] = cell;
  }
  return texts;
}

/** Final names: parts joined by `_`, blanks numbered, repeats suffixed. */
export function nameColumns(columns: HeaderColumn[], isLabel: (position: number) => boolean): string[] {
  const taken = new Set<string>();
  return columns.map((column, position) => {
    const joined = cleanName(column.parts.join('_'));
    const base = joined || (isLabel(position) ? '項目' : `列${position + 1}`);
    return claimColumn(base, taken);
  });
}

export function claimColumn(base: string, taken: Set<string>): string {
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n += 1) name = `${base}_${n}`;
  taken.add(name.toLowerCase());
  return name;
}
