import * as fc from 'fast-check';

/** Staleness as it is defined: an edit by edit record of what each table has not taken in yet. All tables have columns k, p and q. */

type Changed = 'all' | ReadonlySet<string>;
type Reach = 'all' | string[];

/** What changes in an output when rows of an input come or go, or values in one of its columns. */
interface Flow {
  rows: Reach;
  [column: string]: Reach;
}

interface Form {
  template: string;
  /** One for each argument. */
  flows: Flow[];
}

const forms: Record<string, Form> = {
  copy: { template: 'SELECT k, p, q FROM {{ a }}', flows: [{ rows: 'all', k: ['k'], p: ['p'], q: ['q'] }] },
  leaveOut: { template: 'SELECT k, q AS p, 0 AS q FROM {{ a }}', flows: [{ rows: 'all', k: ['k'], q: ['p'] }] },
  filter: { template: 'SELECT k, p, q FROM {{ a }} WHERE q > 0', flows: [{ rows: 'all', k: ['k'], p: ['p'], q: 'all' }] },
  sum: { template: 'SELECT 1 AS k, sum(p) AS p, count(*) AS q FROM {{ a }}', flows: [{ rows: ['p', 'q'], p: ['p'] }] },
  join: {
    template: 'SELECT a.k AS k, a.p AS p, b.q AS q FROM {{ a }} a JOIN {{ b }} b ON a.k = b.k',
    flows: [
      { rows: 'all', k: 'all', p: ['p'] },
      { rows: 'all', k: 'all', q: ['q'] },
    ],
  },
};

export interface RandomTransform {
  name: string;
  form: string;
  /** Names of tables, one for each argument. */
  inputs: string[];
}

export const bases = ['base0', 'base1'];
const most = 5;

export const templateOf = ({ form }: RandomTransform) => (forms[form] as Form).template;

export const transforms: fc.Arbitrary<RandomTransform[]> = fc
  .array(fc.record({ form: fc.constantFrom(...Object.keys(forms)), places: fc.tuple(fc.nat(), fc.nat()) }), {
    minLength: most,
    maxLength: most,
  })
  .map((wanted) =>
    wanted.map(({ form, places }, i) => {
      const earlier = [...bases, ...Array.from({ length: i }, (_, j) => `t${j}`)];
      const inputs = places.slice(0, forms[form]?.flows.length).map((place) => earlier[place % earlier.length] as string);
      return { name: `t${i}`, form, inputs };
    }),
  );

export type Step =
  | { do: 'edit'; table: string; column: 'p' | 'q' }
  | { do: 'insert'; table: string }
  | { do: 'run'; name: string }
  | { do: 'recompute' };

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('edit' as const),
        table: fc.constantFrom(...bases),
        column: fc.constantFrom('p' as const, 'q' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('insert' as const), table: fc.constantFrom(...bases) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('run' as const), name: fc.nat(most - 1).map((i) => `t${i}`) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'recompute' as const }) },
  ),
  { minLength: 10, maxLength: 10 },
);

export class StalenessModel {
  private edits = 0;
  /** By output and input: the edits that the output has not taken in by way of this input, with what each changes in the input. */
  private readonly pending = new Map<string, Map<number, Changed>>();

  /** In an order in which each reads only those before it. */
  constructor(private readonly transforms: RandomTransform[]) {}

  listStale(): string[] {
    return this.transforms.filter((transform) => this.isStale(transform)).map(({ name }) => name);
  }

  edit(table: string, changed: Changed): void {
    this.edits += 1;
    const changes = new Map([[table, changed]]);
    for (const transform of this.transforms)
      for (const input of new Set(transform.inputs)) {
        const reached = passOn(transform, input, changes.get(input));
        if (isNothing(reached)) continue;
        this.of(transform.name, input).set(this.edits, changes.get(input) as Changed);
        changes.set(transform.name, join(changes.get(transform.name), reached));
      }
  }

  /** First what it is made from, as far as that is stale; then what is made from it. */
  run(name: string): void {
    const above = new Set([name]);
    for (const transform of this.transforms.toReversed())
      if (above.has(transform.name)) for (const input of transform.inputs) above.add(input);
    for (const transform of this.transforms)
      if (above.has(transform.name) && (transform.name === name || this.isStale(transform))) this.make(transform);
    const below = new Set([name]);
    for (const transform of this.transforms) {
      if (!transform.inputs.some((input) => below.has(input))) continue;
      below.add(transform.name);
      if (this.isStale(transform)) this.make(transform);
    }
  }

  recompute(): void {
    for (const transform of this.transforms) if (this.isStale(transform)) this.make(transform);
  }

  private isStale({ name, inputs }: RandomTransform): boolean {
    return inputs.some((input) => this.of(name, input).size > 0);
  }

  /** Takes everything in but what an input has not taken in itself. */
  private make(transform: RandomTransform): void {
    for (const input of new Set(transform.inputs)) {
      const left = new Map<number, Changed>();
      const source = this.transforms.find(({ name }) => name === input);
      for (const from of new Set(source?.inputs))
        for (const [edit, changed] of this.of(input, from))
          left.set(edit, join(left.get(edit), passOn(source as RandomTransform, from, changed)));
      for (const [edit, changed] of left) if (isNothing(passOn(transform, input, changed))) left.delete(edit);
      this.pending.set(`${transform.name} ${input}`, left);
    }
  }

  private of(output: string, input: string): Map<number, Changed> {
    const key = `${output} ${input}`;
    const found = this.pending.get(key) ?? new Map<number, Changed>();
    this.pending.set(key, found);
    return found;
  }
}

const isNothing = (changed: Changed) => changed !== 'all' && changed.size === 0;
const join = (a: Changed | undefined, b: Changed): Changed => (a === 'all' || b === 'all' ? 'all' : new Set([...(a ?? []), ...b]));

function passOn({ form, inputs }: RandomTransform, input: string, changed: Changed | undefined): Changed {
  let reached: Changed = new Set();
  if (changed === undefined) return reached;
  for (const [i, flow] of (forms[form] as Form).flows.entries()) {
    if (inputs[i] !== input) continue;
    const reaches = changed === 'all' ? Object.values(flow) : [...changed].map((column) => flow[column] ?? []);
    for (const reach of reaches) reached = join(reached, reach === 'all' ? 'all' : new Set(reach));
  }
  return reached;
}
