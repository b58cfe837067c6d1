import { type Dependency, orderByDependency } from './order.ts';

const sweeps = 4;
/** With more, arrows lead straight on. */
const mostBends = 500;

/** What is in a layer: one of the names, or a place where an arrow passes on its way to a later layer. */
export type InLayer = { name: string } | { arrow: Dependency };

/**
 * Names in layers, each after everything it is made from, and within a layer near those they are connected with, so that few
 * arrows cross. In time that grows with the graph; a graph with a cycle is one layer.
 */
export function arrangeInLayers(names: string[], dependencies: readonly Dependency[]): InLayer[][] {
  const ordered = orderByDependency(names, dependencies);
  if (ordered.outcome === 'cycle') return [names.map((name) => ({ name }))];
  const layers: InLayer[][] = ordered.levels.map((level) => level.map((name) => ({ name })));
  const items = new Map(layers.flat().map((item) => ['name' in item ? item.name : '', item]));
  const levelOf = new Map(ordered.levels.flatMap((level, i) => level.map((name): [string, number] => [name, i])));
  const span = ({ input, output }: Dependency) => (levelOf.get(output) ?? 0) - (levelOf.get(input) ?? 0);
  const bends = dependencies.reduce((sum, dependency) => sum + span(dependency) - 1, 0);
  const steps: [InLayer, InLayer][] = [];
  for (const arrow of dependencies) {
    let [last, first] = [items.get(arrow.input), (levelOf.get(arrow.input) ?? 0) + 1];
    const end = items.get(arrow.output);
    if (!last || !end) continue;
    for (; bends <= mostBends && first < (levelOf.get(arrow.output) ?? 0); first += 1) {
      const bend = { arrow };
      layers[first]?.push(bend);
      steps.push([last, bend]);
      last = bend;
    }
    steps.push([last, end]);
  }
  sortLayers(layers, steps);
  return layers;
}

function sortLayers(layers: InLayer[][], steps: [InLayer, InLayer][]): void {
  const [before, after] = [new Map<InLayer, InLayer[]>(), new Map<InLayer, InLayer[]>()];
  for (const [from, to] of steps) {
    addTo(before, to, from);
    addTo(after, from, to);
  }
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) sortByNeighbours(layer, layers, isDown ? before : after);
  }
}

function addTo(lists: Map<InLayer, InLayer[]>, of: InLayer, item: InLayer): void {
  const list = lists.get(of);
  if (list) list.push(item);
  else lists.set(of, [item]);
}

/** By the mean height of the neighbours; those without stay where they are. */
function sortByNeighbours(layer: InLayer[], layers: InLayer[][], neighbours: ReadonlyMap<InLayer, InLayer[]>): void {
  const heights = new Map(layers.flatMap((each) => each.map((item, i): [InLayer, number] => [item, (i + 0.5) / each.length])));
  const wanted = new Map(
    layer.map((item) => {
      const near = (neighbours.get(item) ?? []).flatMap((each) => heights.get(each) ?? []);
      return [item, near.length === 0 ? (heights.get(item) ?? 0) : near.reduce((sum, height) => sum + height, 0) / near.length];
    }),
  );
  layer.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
}
