import type { Dependency } from './order.ts';

/** At most so many names: those that are the fewest steps from the first, whichever way the arrows go. */
export function findNearest(first: string, dependencies: readonly Dependency[], most: number): Set<string> {
  const neighbours = new Map<string, string[]>();
  const connect = (from: string, to: string) => {
    const list = neighbours.get(from);
    if (list) list.push(to);
    else neighbours.set(from, [to]);
  };
  for (const { input, output } of dependencies) {
    connect(input, output);
    connect(output, input);
  }
  const found = new Set([first]);
  // The set grows while it is walked, nearest first.
  for (const name of found)
    for (const near of neighbours.get(name) ?? []) {
      if (found.size >= most) return found;
      found.add(near);
    }
  return found;
}
