import { type Grid, PLAIN_STYLE } from '../../core/grid/grid.ts';
import type { CellBuffer } from '../xlsx/cellBuffer.ts';
import type { StringPool } from '../xlsx/stringPool.ts';

/** A sheet of texts without any format. */
export function makeTextGrid(sheet: string, cells: CellBuffer, pool: StringPool): Grid {
  const { size } = cells;
  return {
    sheet,
    size,
    rows: cells.rows.slice(0, size),
    columns: cells.columns.slice(0, size),
    kinds: cells.kinds.slice(0, size),
    numbers: cells.numbers.slice(0, size),
    texts: cells.texts.slice(0, size),
    strings: pool.strings,
    formulaIds: cells.formulaIds.slice(0, size),
    formulas: [],
    styleIds: cells.styleIds.slice(0, size),
    styles: [PLAIN_STYLE],
    blanks: [],
    merges: [],
    hiddenRows: new Set(),
    hiddenColumns: new Set(),
    listObjects: [],
    names: [],
  };
}
