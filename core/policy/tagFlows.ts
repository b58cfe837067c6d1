import { parseArea } from '../a1/address.ts';
import type { Range } from '../grid/grid.ts';
import type { Flows, Reach } from '../lineage/flows.ts';

/** That a table was made from another. Flows null: every column from every column. */
export interface TagEdge {
  input: string;
  output: string;
  /** `structuring`: the output holds cells of the input, which is the raw table of a sheet. */
  kind: 'structuring' | 'transform';
  flows: Flows | null;
  /** Of what was structured: the parts of the sheet that it holds. Empty: not known. */
  ranges: string[];
}

export interface ColumnPlace {
  table: string;
  column: number;
}

/** A column that gets a tag, and the one that it flows from. */
export interface ReachedColumn extends ColumnPlace {
  from: ColumnPlace;
}

/** The columns of tables, all that they ever had. */
export type ColumnsOf = (table: string) => readonly number[];

/** The columns of the output that a column of the input flows to. */
export function listReached({ output, flows }: Pick<TagEdge, 'output' | 'flows'>, column: number, columnsOf: ColumnsOf): readonly number[] {
  const reach: Reach = flows === null ? 'all' : (flows.columns[column] ?? []);
  return reach === 'all' ? columnsOf(output) : reach;
}

/** The columns of the input that flow to a column of the output. */
export function listOrigins({ input, flows }: Pick<TagEdge, 'input' | 'flows'>, column: number, columnsOf: ColumnsOf): readonly number[] {
  if (flows === null) return columnsOf(input);
  return Object.entries(flows.columns)
    .filter(([, reach]) => reach === 'all' || reach.includes(column))
    .map(([id]) => Number(id));
}

/** The flows from a structured table back to the raw columns that hold the same cells. */
export function reverseFlows({ columns }: Flows, outputColumns: readonly number[]): Flows {
  const back = new Map<number, number[]>();
  for (const [id, reach] of Object.entries(columns))
    for (const column of reach === 'all' ? outputColumns : reach) back.set(column, [...(back.get(column) ?? []), Number(id)]);
  return { rows: [], columns: Object.fromEntries(back) };
}

/** Whether two tables hold the same cells of a sheet, as far as that is known. */
export function sharesCells(a: TagEdge, b: TagEdge): boolean {
  if (a.ranges.length === 0 || b.ranges.length === 0) return true;
  return a.ranges.some((one) => b.ranges.some((other) => overlaps(parseArea(one), parseArea(other))));
}

function overlaps(a: Range | null, b: Range | null): boolean {
  if (!a || !b) return true;
  return a.top <= b.bottom && b.top <= a.bottom && a.left <= b.right && b.left <= a.right;
}
