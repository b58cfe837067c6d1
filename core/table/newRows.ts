/** Ids of rows as they are stored. Negative ones were counted from -1 by a plan: those rows get the next ids in that order. */
export function numberRows(rowIds: readonly number[], firstRowId: number): number[] {
  return rowIds.map((id) => (id < 0 ? firstRowId - id - 1 : id));
}
