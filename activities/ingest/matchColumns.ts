import type { TableAt } from '../../core/table/table.ts';

/** Ids for the columns of a new version: those with the same name and type as before keep their id. */
export function matchColumns(before: TableAt, columns: { name: string; type: string }[]): number[] {
  let next = before.table.nextColumnId;
  return columns.map(({ name, type }) => {
    const twin = before.columns.find((column) => column.name === name && column.type === type);
    if (twin) return twin.id;
    next += 1;
    return next - 1;
  });
}
