import type { ColumnRecord, TableRecord } from '../../core/table/table.ts';

/** What the columns of a table's next version depend on. */
export interface ColumnsBefore {
  table: Pick<TableRecord, 'nextColumnId'>;
  columns: Pick<ColumnRecord, 'id' | 'name' | 'type'>[];
}

/** Ids for the columns of a new version: those with the same name and type as before keep their id. */
export function matchColumns(before: ColumnsBefore, columns: { name: string; type: string }[]): number[] {
  let next = before.table.nextColumnId;
  return columns.map(({ name, type }) => {
    const twin = before.columns.find((column) => column.name === name && column.type === type);
    if (twin) return twin.id;
    next += 1;
    return next - 1;
  });
}
