import type { components } from '../../../schema/contract.ts';
import { contains, parseRange } from './a1.ts';

type Lineage = components['schemas']['RowLineage'];

/** More rows than these are not looked for beside one that was found. */
const mostRows = 40;

/**
 * The rows of a table that came from a cell. Rows are numbered in the order of the sheet, so the first one is found by halving. Looks
 * only at some rows; of a table that was ordered otherwise it may find none.
 */
export async function findRowsOfCell(
  rowIds: number[],
  read: (rowId: number) => Promise<Lineage>,
  sheet: string,
  column: number,
  row: number,
): Promise<number[]> {
  const rangesOf = (lineage: Lineage) =>
    lineage.cells.filter((cell) => cell.sheet === null || cell.sheet === sheet).flatMap(({ range }) => parseRange(range) ?? []);
  const lastRowOf = async (i: number) => Math.max(0, ...rangesOf(await read(rowIds[i] as number)).map(({ bottom }) => bottom));
  let [low, high] = [0, rowIds.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await lastRowOf(middle)) < row) low = middle + 1;
    else high = middle;
  }
  const near = rowIds.slice(low, low + mostRows);
  const found = await Promise.all(
    near.map(async (rowId) => (rangesOf(await read(rowId)).some((range) => contains(range, column, row)) ? [rowId] : [])),
  );
  return found.flat();
}
