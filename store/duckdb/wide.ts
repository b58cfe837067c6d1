/**
 * DuckDB plans each column and buffers about two thousand values of it. Beyond this many columns, files are therefore read and
 * written without it, column by column.
 */
export const mostColumnsAtOnce = 500;

export const isWide = (columns: readonly unknown[]): boolean => columns.length > mostColumnsAtOnce;

/** How many rows a row group has: few enough to find a row quickly and to hold a group in memory. */
export function chooseGroupRows(columns: number): number {
  return columns <= mostColumnsAtOnce ? groupRows : Math.max(1, Math.floor(mostCells / columns));
}

/** Rows per group of files that are not wide. */
export const groupRows = 20_480;

/** Cells per group of wide files. */
const mostCells = 2_000_000;
