/**
 * An engine holds two thousand values of every column that it reads or writes, and plans each of them: beyond so many columns
 * whole rows are read and written by their bytes instead, column by column.
 */
export const mostAtOnce = 500;

export const isWide = (columns: readonly unknown[]): boolean => columns.length > mostAtOnce;

/** Rows of a group in a file: one is found without decoding the file, and what is held in memory at once is not too much. */
export function groupRowsOf(columns: number): number {
  return columns <= mostAtOnce ? 20_480 : Math.max(1, Math.floor(mostCells / columns));
}

const mostCells = 2_000_000;
