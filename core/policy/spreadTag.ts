import { type ColumnPlace, type ColumnsOf, listOrigins, listReached, type ReachedColumn, sharesCells, type TagEdge } from './tagFlows.ts';

export interface TagGraph {
  edges: readonly TagEdge[];
  columnsOf: ColumnsOf;
  /** Ids under which the same column stands in other versions of its table. */
  sameColumn(place: ColumnPlace): readonly number[];
}

interface Step {
  place: ColumnPlace;
  /** The tag came from a structured table back to its raw one: on to other tables with the same cells alone. */
  back: TagEdge | null;
}

const keyOf = ({ table, column }: ColumnPlace) => `${table} ${column}`;

/**
 * The columns that a tag flows to from a column: forward to what was derived from it, and from structured tables back to the raw
 * columns that hold the same cells. It stops at columns from which somebody took it off.
 */
export function spreadTag(start: ColumnPlace, graph: TagGraph, wasRemoved: (place: ColumnPlace) => boolean): ReachedColumn[] {
  const outputs = groupBy(graph.edges, ({ input }) => input);
  const inputs = groupBy(
    graph.edges.filter(({ kind }) => kind === 'structuring'),
    ({ output }) => output,
  );
  const reached = new Map<string, ReachedColumn>();
  const walked = new Map<string, Set<TagEdge | null>>();
  const waiting: Step[] = [{ place: start, back: null }];
  const visit = (place: ColumnPlace, from: ColumnPlace, back: TagEdge | null) => {
    const key = keyOf(place);
    const ways = walked.get(key) ?? new Set();
    if (ways.has(null) || ways.has(back) || wasRemoved(place)) return;
    walked.set(key, ways.add(back));
    if (key !== keyOf(start) && !reached.has(key)) reached.set(key, { ...place, from });
    waiting.push({ place, back });
  };
  walked.set(keyOf(start), new Set([null]));
  for (let step = waiting.pop(); step; step = waiting.pop()) {
    const { place, back } = step;
    for (const column of graph.sameColumn(place)) visit({ table: place.table, column }, place, back);
    for (const edge of outputs.get(place.table) ?? []) {
      if (back && edge.kind === 'structuring' && !sharesCells(edge, back)) continue;
      for (const column of listReached(edge, place.column, graph.columnsOf)) visit({ table: edge.output, column }, place, null);
    }
    for (const edge of inputs.get(place.table) ?? [])
      for (const column of listOrigins(edge, place.column, graph.columnsOf)) visit({ table: edge.input, column }, place, edge);
  }
  return [...reached.values()];
}

function groupBy<T>(items: readonly T[], keyOfItem: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOfItem(item), [...(groups.get(keyOfItem(item)) ?? []), item]);
  return groups;
}
