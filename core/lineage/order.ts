/** What must be made before what: `output` is made from `input`. */
export interface Dependency {
  input: string;
  output: string;
}

/** Levels: each depends only on those in levels before it, so those of one level can be made at the same time. */
export type Ordered = { outcome: 'ordered'; levels: string[][] } | { outcome: 'cycle'; path: string[] };

/** Orders the given names; dependencies on others do not count. */
export function orderByDependency(names: Iterable<string>, dependencies: readonly Dependency[]): Ordered {
  const inputs = new Map([...names].map((name) => [name, new Set<string>()]));
  const outputs = new Map([...inputs.keys()].map((name) => [name, new Set<string>()]));
  for (const { input, output } of dependencies) {
    if (!inputs.has(input) || !inputs.has(output)) continue;
    inputs.get(output)?.add(input);
    outputs.get(input)?.add(output);
  }
  const missing = new Map([...inputs].map(([name, of]) => [name, of.size]));
  const levels: string[][] = [];
  let level = [...missing].filter(([, count]) => count === 0).map(([name]) => name);
  let ordered = 0;
  while (level.length > 0) {
    levels.push(level);
    ordered += level.length;
    const next: string[] = [];
    for (const name of level)
      for (const output of outputs.get(name) ?? []) {
        const count = (missing.get(output) ?? 0) - 1;
        missing.set(output, count);
        if (count === 0) next.push(output);
      }
    level = next;
  }
  return ordered === inputs.size ? { outcome: 'ordered', levels } : { outcome: 'cycle', path: findCycle(inputs, missing) };
}

/** The names around one cycle, in the direction of the data, the first again at the end. */
function findCycle(inputs: ReadonlyMap<string, ReadonlySet<string>>, missing: ReadonlyMap<string, number>): string[] {
  const isLeft = (name: string) => (missing.get(name) ?? 0) > 0;
  // Each of those left has an input that is left, so that going back must come around.
  const path: string[] = [];
  let name = [...inputs.keys()].find(isLeft);
  while (name !== undefined && !path.includes(name)) {
    path.unshift(name);
    name = [...(inputs.get(name) ?? [])].find(isLeft);
  }
  if (name === undefined) return path;
  return [name, ...path.slice(0, path.indexOf(name) + 1)];
}
