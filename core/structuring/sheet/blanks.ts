/** Cells that hold nothing but blanks look empty and are read as empty; the raw table keeps them. */

import { CellKind, type Grid } from '../../grid/grid.ts';

interface SeenGrid {
  grid: Grid;
  /** Position in the original grid of each cell; null when none was left out. */
  origin: Int32Array | null;
}

/** Most texts begin with what is surely no blank: ASCII, or letters from the Kana on. */
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  return !((first > 0x20 && first < 0x80) || (first >= 0x3041 && first < 0xd800)) && !/\S/.test(text);
}

export function dropBlankTexts(grid: Grid): SeenGrid {
  const { strings } = grid;
  const blank = new Uint8Array(strings.length);
  for (let k = 0; k < strings.length; k += 1) if (isBlank(strings[k]!)) blank[k] = 1;
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
