/** A transform whose output exists, and what it reads. */
export interface RunNode {
  id: string;
  outputId: string;
  inputIds: string[];
  isStale: boolean;
}

/**
 * The transforms that can be run now: stale, not tried yet, and with no stale table before them that is still to be run. What is
 * made from a table whose run failed is left stale. `within`: only these tables are to be made again; null: all.
 */
export function chooseNextRuns(nodes: readonly RunNode[], tried: ReadonlySet<string>, within: ReadonlySet<string> | null): string[] {
  const due = new Set(nodes.filter(({ outputId, isStale }) => isStale && (within === null || within.has(outputId))).map(({ id }) => id));
  const byOutput = new Map(nodes.map((node) => [node.outputId, node]));
  const known = new Map<string, boolean>();
  /** Whether something at or before a table is still to be made again. */
  const waits = (tableId: string): boolean => {
    const node = byOutput.get(tableId);
    if (!node) return false;
    const found = known.get(tableId) ?? (due.has(node.id) || node.inputIds.some(waits));
    known.set(tableId, found);
    return found;
  };
  return nodes.filter(({ id, inputIds }) => due.has(id) && !tried.has(id) && !inputIds.some(waits)).map(({ id }) => id);
}

/** The tables, and what they are made from. */
export function findAbove(nodes: readonly RunNode[], tableIds: readonly string[]): Set<string> {
  const byOutput = new Map(nodes.map((node) => [node.outputId, node]));
  return follow(tableIds, (tableId) => byOutput.get(tableId)?.inputIds ?? []);
}

/** The table, and what is made from it. */
export function findBelow(nodes: readonly RunNode[], tableId: string): Set<string> {
  const readers = new Map<string, string[]>();
  for (const { outputId, inputIds } of nodes) for (const input of inputIds) readers.set(input, [...(readers.get(input) ?? []), outputId]);
  return follow([tableId], (input) => readers.get(input) ?? []);
}

function follow(first: readonly string[], next: (tableId: string) => readonly string[]): Set<string> {
  const found = new Set(first);
  // What is added meanwhile is visited, too.
  for (const tableId of found) for (const other of next(tableId)) found.add(other);
  return found;
}
