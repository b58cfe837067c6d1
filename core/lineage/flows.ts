import type { InputColumn } from './inputs.ts';
import type { QueryLineage } from './readPlan.ts';

/**
 * What a change of one input changes in an output, by column ids. `all`: which rows the output has, and so every column; a list:
 * these columns of the output. What is not here changes nothing.
 */
export interface Flows {
  /** When rows of the input come or go. */
  rows: Reach;
  /** When values of a column of the input change. */
  columns: Record<number, Reach>;
}

export type Reach = 'all' | number[];

/** In the place of a column's id: the list of columns. It changes when one is added, and matters to `SELECT *`. */
export const columnList = 0;

/** The columns of the input that matter at all. */
export const listUsedColumns = ({ columns }: Flows): number[] =>
  Object.entries(columns)
    .filter(([id, reach]) => Number(id) !== columnList && (reach === 'all' || reach.length > 0))
    .map(([id]) => Number(id));

/** The flows from one input of a query, which the query knows as `table`, to its result. Ids by name of the column. */
export function describeFlows(
  { columns, rows }: QueryLineage,
  table: string,
  inputIds: ReadonlyMap<string, number>,
  outputIds: ReadonlyMap<string, number>,
): Flows {
  const reached = new Map<string | null, number[]>();
  for (const { name, computedFrom, decidedBy } of columns) {
    const id = outputIds.get(name);
    if (id === undefined) continue;
    for (const column of new Set(namesOf([...computedFrom, ...decidedBy], table))) {
      const ids = reached.get(column);
      if (ids) ids.push(id);
      else reached.set(column, [id]);
    }
  }
  const deciding = new Set(namesOf(rows, table));
  const reachOf = (column: string | null): Reach => (deciding.has(column) ? 'all' : (reached.get(column) ?? []));
  const used = [...inputIds].map(([name, id]): [number, Reach] => [id, reachOf(name)]).filter(([, reach]) => reach.length > 0);
  return { rows: reachOf(null), columns: Object.fromEntries(used) };
}

/** The same for a query that takes all columns, whatever there are: those of its result are others then, too. */
export const withColumnList = ({ rows, columns }: Flows): Flows => ({ rows, columns: { ...columns, [columnList]: [columnList] } });

/** The flows from a table that a query reads under two names. */
export function joinFlows(a: Flows, b: Flows): Flows {
  const join = (left: Reach, right: Reach): Reach => (left === 'all' || right === 'all' ? 'all' : [...new Set([...left, ...right])]);
  const ids = new Set([...Object.keys(a.columns), ...Object.keys(b.columns)].map(Number));
  const columns = [...ids].map((id) => [id, join(a.columns[id] ?? [], b.columns[id] ?? [])]);
  return { rows: join(a.rows, b.rows), columns: Object.fromEntries(columns) };
}

const namesOf = (places: InputColumn[], table: string) => places.filter((place) => place.table === table).map(({ column }) => column);
