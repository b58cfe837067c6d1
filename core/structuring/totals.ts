/** Which rows of a table sum others. */

import type { Range } from '../grid/grid.js';
import type { Line } from './lines.js';
import type { SheetView } from './sheet.js';
import { isTotalLabel } from './words.js';

/** Rows whose label says they are totals and that hold at least one number. */
export function findTotalRows(view: SheetView, _block: Range, lines: Line[]): number[] {
  const rows: number[] = [];
  for (const line of lines) {
    if (line.numbers + line.years === 0) continue;
    for (let i = line.from; i < line.to; i += 1) {
      if (!view.isText(i)) continue;
      if (isTotalLabel(view.label(i))) {
        rows.push(line.row);
        break;
      }
      break;
    }
  }
  return rows;
}
