import { type Grid, PLAIN_STYLE } from '../../core/grid/grid.ts';
import type { CellBuffer } from '../xlsx/cellBuffer.ts';
import type { StringPool } from '../xlsx/stringPool.ts';

/** A sheet of texts without any format. */
export function makeTextGrid(sheet: string, cells: CellBuffer, pool: StringPool): Grid {
  return {
    sheet,
    ...cells.toArrays(),
    strings: pool.strings,
    formulas: [],
    styles: [PLAIN_STYLE],
    blanks: [],
    merges: [],
    hiddenRows: new Set(),
    hiddenColumns: new Set(),
    listObjects: [],
    names: [],
  };
}
