/** Column names from header rows: merged cells filled, parents joined to children. */

import type { Range } from '../../grid/grid.ts';
import { cleanName, isUsableName, suffixName } from '../names/names.ts';
import type { Naming } from '../names/naming.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { key } from '../sheet/sheet.ts';

export interface HeaderColumn {
  column: number;
  /** Header texts from the outermost to the innermost. */
  parts: string[];
  /** For each part the day it stands for, where the header cell is a real date. */
  days: (string | null)[];
}

/** A part of a column's name, from a header cell above the column or from a parent cell that spans it. */
interface HeaderPart {
  text: string;
  day: string | null;
  /** Position in the grid. */
  cell: number;
}

/** The columns of a table that hold a header or a value, with the parts of their names. */
export function readHeaderColumns(view: SheetView, range: Range, headerRows: number[], dataTop: number): HeaderColumn[] {
  const width = range.right - range.left + 1;
  const used = markUsedColumns(view, range, dataTop);
  const { rows, filled } = readHeaderRows(view, range, headerRows);
  const columns: HeaderColumn[] = [];
  for (let c = 0; c < width; c += 1) {
    const parts = partsOf(filled, c);
    if (parts.length === 0 && !used[c]) continue;
    // A parent that only reaches over a blank spacer column names nothing there.
    if (!used[c] && !rows.some((row) => row[c]?.own)) continue;
    columns.push({ column: range.left + c, parts: parts.map((part) => part.text), days: parts.map((part) => part.day) });
  }
  return columns;
}

/** The header of every column of a table, by its distance from the left edge. */
export function readHeaderParts(view: SheetView, range: Range, headerRows: number[]): HeaderPart[][] {
  const { filled } = readHeaderRows(view, range, headerRows);
  return Array.from({ length: range.right - range.left + 1 }, (_, c) => partsOf(filled, c));
}

type HeaderRow = (HeaderCell | undefined)[];

/** The header rows as they stand, and with parents spread over their children. */
function readHeaderRows(view: SheetView, range: Range, headerRows: number[]): { rows: HeaderRow[]; filled: HeaderRow[] } {
  const rows = headerRows.map((row) => readHeaderRow(view, range, row));
  return { rows, filled: rows.map((cells, k) => fillParents(cells, rows, k, range.right - range.left + 1)) };
}

function partsOf(filled: HeaderRow[], c: number): HeaderPart[] {
  const parts: HeaderPart[] = [];
  for (const row of filled) {
    const cell = row[c];
    if (cell && cell.text !== '' && parts.at(-1)?.text !== cell.text) parts.push(cell);
  }
  return parts;
}

function markUsedColumns(view: SheetView, range: Range, dataTop: number): Uint8Array {
  const used = new Uint8Array(range.right - range.left + 1);
  for (let index = view.rowIndex(dataTop); index < view.rows.length && view.rows[index]! <= range.bottom; index += 1) {
    const [from, to] = view.cellsOfRow(index, range.left, range.right);
    for (let i = from; i < to; i += 1) used[view.grid.columns[i]! - range.left] = 1;
  }
  return used;
}

interface HeaderCell extends HeaderPart {
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
      cell: i,
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

/** Reserved: every table has this column. Files exported with row ids contain it as well. */
export const ROW_ID_NAME = '__svc_row_id';

/** Final names: parts joined by `_`, blanks numbered, repeats suffixed. */
export function nameColumns(columns: HeaderColumn[], isLabel: (position: number) => boolean, { nameless }: Naming): string[] {
  const taken = new Set<string>([ROW_ID_NAME]);
  return columns.map((column, position) => {
    const joined = cleanName(column.parts.join('_'));
    const base = isUsableName(joined) ? joined : isLabel(position) ? nameless.label : nameless.column(position + 1);
    return claimColumn(base, taken);
  });
}

/** Names of the columns of a file of records, which may be anything. */
export function nameRecordColumns(names: string[], { nameless }: Naming): string[] {
  const taken = new Set<string>([ROW_ID_NAME]);
  return names.map((name, position) => {
    const clean = cleanName(name);
    return claimColumn(isUsableName(clean) ? clean : nameless.column(position + 1), taken);
  });
}

export function claimColumn(base: string, taken: Set<string>): string {
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n += 1) name = suffixName(base, n);
  taken.add(name.toLowerCase());
  return name;
}
