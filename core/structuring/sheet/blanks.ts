/** Cells that hold nothing but blanks look empty and are read as empty; the raw table keeps them. */

import { CellKind, type Grid } from '../../grid/grid.ts';

interface SeenGrid {
  grid: Grid;
  /** Position in the original grid of each cell; null when none was left out. */
  origin: Int32Array | null;
}

export function dropBlankTexts(grid: Grid): SeenGrid {
  const blank = Uint8Array.from(grid.strings, (text) => (/\S/.test(text) ? 0 : 1));
  if (!blank.includes(1)) return { grid, origin: null };
  const kept: number[] = [];
  for (let i = 0; i < grid.size; i += 1) if (grid.kinds[i] !== CellKind.text || blank[grid.texts[i]!] === 0) kept.push(i);
  if (kept.length === grid.size) return { grid, origin: null };
  const origin = Int32Array.from(kept);
  return {
    origin,
    grid: {
      ...grid,
      size: kept.length,
      rows: Uint32Array.from(origin, (i) => grid.rows[i]!),
      columns: Uint16Array.from(origin, (i) => grid.columns[i]!),
      kinds: Uint8Array.from(origin, (i) => grid.kinds[i]!),
      numbers: Float64Array.from(origin, (i) => grid.numbers[i]!),
      texts: Int32Array.from(origin, (i) => grid.texts[i]!),
      formulaIds: Int32Array.from(origin, (i) => grid.formulaIds[i]!),
      styleIds: Uint16Array.from(origin, (i) => grid.styleIds[i]!),
    },
  };
}
