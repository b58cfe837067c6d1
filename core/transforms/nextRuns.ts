/** A transform whose output exists, and what it reads. */
export interface RunNode {
  id: string;
  outputId: string;
  inputIds: string[];
  isStale: boolean;
}

/**
 * The transforms that can be run now: stale, not tried yet, and with no stale table before them that is still to be run. What is
 * made from a table whose run failed is left stale. `only`: these tables and what is made from them; null: all.
 */
export function chooseNextRuns(nodes: readonly RunNode[], tried: ReadonlySet<string>, only: ReadonlySet<string> | null): string[] {
  const byOutput = new Map(nodes.map((node) => [node.outputId, node]));
  const known = new Map<string, { waits: boolean; within: boolean }>();
  /** Whether something at or before a table is stale, and whether the table is among `only` or made from them. */
  const look = (tableId: string): { waits: boolean; within: boolean } => {
    const seen = known.get(tableId);
    if (seen) return seen;
    const before = (byOutput.get(tableId)?.inputIds ?? []).map(look);
    const found = {
      waits: byOutput.get(tableId)?.isStale === true || before.some(({ waits }) => waits),
      within: only === null || only.has(tableId) || before.some(({ within }) => within),
    };
    known.set(tableId, found);
    return found;
  };
  return nodes
    .filter(({ id, outputId, isStale }) => isStale && !tried.has(id) && look(outputId).within)
    .filter(({ inputIds }) => !inputIds.some((input) => look(input).waits && look(input).within))
    .map(({ id }) => id);
}
