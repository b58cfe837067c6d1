import type { TagGraph } from '../../core/policy/spreadTag.ts';
import type { ColumnPlace } from '../../core/policy/tagFlows.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type ColumnSpan, listColumnSpans, listTagEdges } from '../../store/pg/tagFlows.ts';

export interface OpenTagGraph extends TagGraph {
  tableIds: string[];
  /** Table and column by name; null if it is not there any more. */
  nameOf(place: ColumnPlace): { table: string; column: string } | null;
}

/** How tags can flow from a table. */
export async function openTagGraph(tx: Tx, workbookId: string, tableId: string): Promise<OpenTagGraph> {
  const all = await listTagEdges(tx, workbookId);
  const reached = new Set([tableId]);
  // Also back, from structured tables to raw ones.
  for (const id of reached)
    for (const { input, output, kind } of all) {
      if (input === id) reached.add(output);
      if (output === id && kind === 'structuring') reached.add(input);
    }
  const tableIds = [...reached];
  const spans = new Map<string, ColumnSpan[]>(tableIds.map((id) => [id, []]));
  for (const span of await listColumnSpans(tx, tableIds)) spans.get(span.tableId)?.push(span);
  const spansOf = (id: string) => spans.get(id) ?? [];
  return {
    tableIds,
    edges: all.filter(({ input, output }) => reached.has(input) && reached.has(output)),
    columnsOf: (id) => [...new Set(spansOf(id).map(({ columnId }) => columnId))],
    sameColumn: ({ table, column }) => listSame(spansOf(table), column),
    nameOf({ table, column }) {
      const span = spansOf(table).find(({ columnId, toVersion }) => columnId === column && toVersion === null);
      return span ? { table: span.tableName, column: span.name } : null;
    },
  };
}

/** The columns that a column replaced, or that replaced it: the same name, one from the version on that ended the other. */
function listSame(spans: ColumnSpan[], columnId: number): number[] {
  const own = spans.filter((span) => span.columnId === columnId);
  const follows = (before: ColumnSpan, after: ColumnSpan) =>
    before.toVersion === after.fromVersion && before.name.toLowerCase() === after.name.toLowerCase();
  const others = spans.filter((span) => span.columnId !== columnId && own.some((each) => follows(each, span) || follows(span, each)));
  return [...new Set(others.map((span) => span.columnId))];
}
