/** Lines inside a list that name the rows below them: `FASTENERS` alone on its line, above its articles. */

import { isNoteStart, isTotalLabel } from '../names/words.ts';
import { key, type SheetView } from '../sheet/sheet.ts';
import { MIN_SECTION_CELLS, MIN_SECTIONS } from '../thresholds.ts';

export interface Sections {
  /** The lines themselves, with the cell that holds the name. */
  lines: Map<number, number>;
  /** Name of each other row, as a cell; -1 above the first one. */
  cellOf(row: number): number;
}

interface ListRow {
  row: number;
  from: number;
  to: number;
}

/** Null where rows of one cell are something else: keys without values, remarks, or lines below one another. */
export function findSections(view: SheetView, rows: number[], left: number, right: number): Sections | null {
  const alone = countAlone(view, rows, left, right);
  if (alone < MIN_SECTIONS || alone * 2 > rows.length) return null;
  const own = rows.map((row): ListRow => {
    const [from, to] = view.cellsOfRow(view.rowIndex(row), left, right);
    return { row, from, to };
  });
  const lines = own.filter((row) => isAlone(view, row));
  const full = own.filter(({ from, to }) => to - from >= MIN_SECTION_CELLS);
  if (lines.length < MIN_SECTIONS || lines.length * 2 > own.length || full.length + lines.length < own.length * 0.9) return null;
  if (new Set(lines.map(({ from }) => view.label(from))).size < lines.length) return null;
  const isLine = new Set(lines.map(({ row }) => row));
  // Each has rows below it, and none stands right below another.
  if (own.some(({ row }, k) => isLine.has(row) && (k + 1 === own.length || isLine.has(own[k + 1]!.row)))) return null;
  const apart =
    lines.every(({ from }) => isSetApart(view, from)) && full.filter(({ from }) => isSetApart(view, from)).length * 5 <= full.length;
  if (!apart && !isLine.has(own[0]!.row)) return null;
  const cells = new Map<number, number>();
  let last = -1;
  for (const { row, from } of own) {
    if (isLine.has(row)) last = from;
    else cells.set(row, last);
  }
  return { lines: new Map(lines.map(({ row, from }) => [row, from])), cellOf: (row) => cells.get(row) ?? -1 };
}

/** Most lists have no such line: they are not looked at more closely. */
function countAlone(view: SheetView, rows: number[], left: number, right: number): number {
  let count = 0;
  let index = view.rowIndex(rows[0] ?? 0);
  for (const row of rows) {
    while (view.rows[index]! < row) index += 1;
    const [from, to] = view.cellsOfRow(index, left, right);
    if (to - from === 1) count += 1;
  }
  return count;
}

/** One text and nothing else. */
function isAlone(view: SheetView, { from, to }: ListRow): boolean {
  if (to - from !== 1 || !view.isText(from)) return false;
  const label = view.label(from);
  return !isTotalLabel(label) && !isNoteStart(label);
}

function isSetApart(view: SheetView, cell: number): boolean {
  const { bold, filled } = view.style(cell);
  const merge = view.mergeAt.get(key(view.grid.rows[cell]!, view.grid.columns[cell]!));
  return bold || filled || (merge !== undefined && merge.right > merge.left);
}
