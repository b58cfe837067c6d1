import { quoteName } from '../duckdb/relation.ts';

/** A value of the row that is looked for. */
export interface WantedCell {
  column: string;
  type: string;
  text: string | null;
}

/** The ids behind the rows of a traced query that have these values. `lists` are the columns with the ids, each with `most` at most. */
export function tracedRowsSql(
  traced: string,
  lists: string[],
  cells: WantedCell[],
  most: number,
): { sql: string; params: (string | null)[] } {
  const ids = lists.map((list) => `list_slice(list_sort(list_distinct(${quoteName(list)})), 1, ${most}) AS ${quoteName(list)}`);
  const wanted = cells.map(({ column, type }, i) => `${quoteName(column)} IS NOT DISTINCT FROM CAST($${i + 1} AS ${type})`);
  return {
    sql: `SELECT ${ids.join(', ')} FROM (${traced}) AS ${quoteName('svc_traced')} WHERE ${wanted.join(' AND ')}`,
    params: cells.map(({ text }) => text),
  };
}
