/** Names that come again inside a table, as on each page of a printout: neither rows nor another table. */

import type { Range } from '../../grid/grid.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { MIN_RETURNING } from '../thresholds.ts';

/** The rows of the data that repeat the last row of the header, word for word and in the same columns. */
export function findPageHeaders(view: SheetView, { left, right, bottom }: Range, headerRows: number[], dataTop: number): Set<number> {
  const found = new Set<number>();
  const last = headerRows.at(-1);
  const at = last === undefined ? -1 : view.rowIndex(last);
  if (last === undefined || view.rows[at] !== last) return found;
  const [from, to] = view.cellsOfRow(at, left, right);
  const { texts, columns } = view.grid;
  if (to - from < MIN_RETURNING || !texts.subarray(from, to).every((text) => text >= 0)) return found;
  for (let index = view.rowIndex(dataTop); index < view.rows.length && view.rows[index]! <= bottom; index += 1) {
    const [first, end] = view.cellsOfRow(index, left, right);
    if (end - first !== to - from || texts[first] !== texts[from]) continue;
    let same = 0;
    while (same < end - first && texts[first + same] === texts[from + same] && columns[first + same] === columns[from + same]) same += 1;
    if (same === end - first) found.add(view.rows[index]!);
  }
  return found;
}
