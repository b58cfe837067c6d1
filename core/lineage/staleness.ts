import type { Flows, Reach } from './flows.ts';

/** A table that is made from another. Flows null: whatever changes in the input changes everything in the output. */
export interface Derivation {
  input: string;
  output: string;
  flows: Flows | null;
}

/** What changed in a table. */
export interface Change {
  /** Whether rows came or went; then every column counts as changed. */
  rows: boolean;
  columns: ReadonlySet<number>;
}

export const noChange: Change = { rows: false, columns: new Set() };

/** Of a table that got other content as a whole. */
export const anyChange: Change = { rows: true, columns: new Set() };

/** The columns, or `all` where rows may come or go. */
type Changed = 'all' | ReadonlySet<number>;
const nothing: Changed = new Set();
const sizeOf = (changed: Changed) => (changed === 'all' ? Number.POSITIVE_INFINITY : changed.size);

/**
 * The tables whose content may be another if they are made again after the change, with what may change in each. A table that is
 * stale already passes changes on like any other.
 */
export function findStale(derivations: readonly Derivation[], table: string, change: Change): Map<string, Changed> {
  const outputs = groupByInput(derivations);
  const changed = new Map<string, Changed>();
  const waiting: [string, Changed][] = [[table, change.rows ? 'all' : change.columns]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [input, what] = next;
    for (const { output, flows } of outputs.get(input) ?? []) {
      const before = changed.get(output) ?? nothing;
      const after = addTo(before, passOn(flows, what));
      if (sizeOf(after) === sizeOf(before)) continue;
      changed.set(output, after);
      waiting.push([output, after]);
    }
  }
  return changed;
}

/** What will change in a table when it is made again, from what has changed in each of its inputs since it was made. */
export function findPending(inputs: readonly { flows: Flows | null; moved: Change | null }[]): Change {
  let changed = nothing;
  for (const { flows, moved } of inputs) if (moved) changed = addTo(changed, passOn(flows, moved.rows ? 'all' : moved.columns));
  return changed === 'all' ? anyChange : { rows: false, columns: changed };
}

export const joinChanges = (a: Change, b: Change): Change => ({
  rows: a.rows || b.rows,
  columns: new Set([...a.columns, ...b.columns]),
});

/** What changes in the output when this changes in the input. */
function passOn(flows: Flows | null, changed: Changed): Changed {
  if (flows === null) return sizeOf(changed) > 0 ? 'all' : nothing;
  const reaches: Reach[] =
    changed === 'all' ? [flows.rows, ...Object.values(flows.columns)] : [...changed].map((id) => flows.columns[id] ?? []);
  const ids = new Set<number>();
  for (const reach of reaches) {
    if (reach === 'all') return 'all';
    for (const id of reach) ids.add(id);
  }
  return ids;
}

const addTo = (before: Changed, added: Changed): Changed => (before === 'all' || added === 'all' ? 'all' : new Set([...before, ...added]));

function groupByInput(derivations: readonly Derivation[]): Map<string, Derivation[]> {
  const groups = new Map<string, Derivation[]>();
  for (const derivation of derivations) {
    const group = groups.get(derivation.input);
    if (group) group.push(derivation);
    else groups.set(derivation.input, [derivation]);
  }
  return groups;
}
