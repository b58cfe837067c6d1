import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeFlows, listUsedColumns } from '../../core/lineage/flows.ts';
import type { InputColumn } from '../../core/lineage/inputs.ts';
import { type Dependency, orderByDependency } from '../../core/lineage/order.ts';
import { everyColumn, type QueryLineage, readPlan } from '../../core/lineage/readPlan.ts';
import { type Derivation, findStale } from '../../core/lineage/staleness.ts';

describe('what is not known of a plan', () => {
  const tables = [{ name: 't', columns: ['a', 'b'] }];
  const scan = {
    type: 'LOGICAL_GET',
    names: ['c0', 'c1'],
    function_data: { table: 'svc_input_0' },
    column_indexes: [{ index: 0 }, { index: 1 }],
  };
  const ref = (index: number) => ({ expression_class: 'BOUND_REF', index });
  const project = (child: unknown, expressions: unknown[]) => ({ type: 'LOGICAL_PROJECTION', children: [child], expressions });
  const everything = [
    { table: 't', column: null },
    { table: 't', column: 'a' },
    { table: 't', column: 'b' },
  ];

  it('is read where it is known', () => {
    expect(readPlan(project(scan, [ref(0)]), ['x'], tables)).toEqual({
      columns: [{ name: 'x', computedFrom: [{ table: 't', column: 'a' }], decidedBy: [] }],
      rows: [{ table: 't', column: null }],
    });
  });

  it.each<[string, unknown]>([
    ['no plan', null],
    ['an operator', { type: 'LOGICAL_NEW', children: [scan] }],
    ['an operator below', project({ type: 'LOGICAL_NEW', children: [scan] }, [ref(0)])],
    ['an operator of three', project({ type: 'LOGICAL_NEW', children: [scan, scan, scan] }, [ref(0)])],
    ['an expression', project(scan, [{ expression_class: 'BOUND_NEW' }])],
    ['an expression within', project(scan, [{ expression_class: 'BOUND_FUNCTION', children: [{ expression_class: 'BOUND_NEW' }] }])],
    ['a place that is not there', project(scan, [ref(7)])],
    [
      'an operator named by number',
      project(scan, [{ expression_class: 'BOUND_COLUMN_REF', binding: { table_index: 9, column_index: 0 } }]),
    ],
    ['a table', project({ ...scan, function_data: { table: 'elsewhere' } }, [ref(0)])],
    ['a table function', project({ type: 'LOGICAL_GET', name: 'read_new', column_indexes: [{ index: 0 }] }, [ref(0)])],
    ['a kind of join', project({ type: 'LOGICAL_COMPARISON_JOIN', join_type: 'NEW', children: [scan, scan] }, [ref(0)])],
    [
      'a condition',
      project({ type: 'LOGICAL_COMPARISON_JOIN', join_type: 'INNER', conditions: [{ new: 1 }], children: [scan, scan] }, [ref(0)]),
    ],
    ['a subquery without the outer part', project({ type: 'LOGICAL_DELIM_GET', chunk_types: [{}] }, [ref(0)])],
    ['a CTE', project({ type: 'LOGICAL_CTE_REF', cte_index: 4 }, [ref(0)])],
    ['another number of columns', project(scan, [ref(0), ref(1)])],
  ])('depends on everything: %s', (_, plan) => {
    const { columns, rows } = readPlan(plan, ['x'], tables);
    const [first] = columns;
    const found = new Set([...(first?.computedFrom ?? []), ...(first?.decidedBy ?? []), ...rows].map((place) => JSON.stringify(place)));
    expect([...found].sort()).toEqual(everything.map((place) => JSON.stringify(place)).sort());
  });

  it('is every column, for what cannot be planned', () => {
    const { columns, rows } = everyColumn(['x', 'y'], tables);
    expect([columns.map(({ computedFrom }) => computedFrom), rows]).toEqual([[everything, everything], everything]);
  });
});

/** A made-up derived table: what its rows and its columns depend on. */
interface Recipe {
  rows: InputColumn[];
  columns: InputColumn[][];
  /** Like Python: nobody knows what it does. */
  isOpaque: boolean;
}

const columnIds = [1, 2, 3, 4];
const idsByName = new Map(columnIds.map((id) => [`c${id}`, id]));

/** Tables t0, t1, …; each from number `bases` on is made from some before it. */
const graphs = fc.integer({ min: 1, max: 3 }).chain((bases) =>
  fc.integer({ min: 1, max: 7 }).chain((derived) =>
    fc.record({
      bases: fc.constant(bases),
      recipes: fc.tuple(
        ...Array.from({ length: derived }, (_, i) => {
          const place = fc.record({
            table: fc.integer({ min: 0, max: bases + i - 1 }).map((n) => `t${n}`),
            column: fc.option(fc.constantFrom(...columnIds).map((id) => `c${id}`)),
          });
          return fc.record({
            rows: fc.array(place, { maxLength: 2 }),
            columns: fc.array(fc.array(place, { maxLength: 2 }), { minLength: columnIds.length, maxLength: columnIds.length }),
            isOpaque: fc.boolean().map((is) => is && i % 3 === 0),
          });
        }),
      ),
      changed: fc.integer({ min: 0, max: bases + derived - 1 }),
      change: fc.record({ rows: fc.boolean(), columns: fc.subarray(columnIds).map((ids) => new Set(ids)) }),
    }),
  ),
);

type Graph = typeof graphs extends fc.Arbitrary<infer T> ? T : never;

/** Values that are another whenever something they were made from is. */
interface Content {
  rows: string;
  columns: Record<string, string>;
}

/** Makes every table anew; in `changed` the change is applied on top of what it is. */
function make({ bases, recipes, changed, change }: Graph, isChanged: boolean): Content[] {
  const tables: Content[] = [];
  const edit = (table: Content, i: number): Content => {
    if (!isChanged || i !== changed) return table;
    const mark = (id: string, value: string) => (change.rows || change.columns.has(Number(id)) ? `${value}!` : value);
    return {
      rows: change.rows ? `${table.rows}!` : table.rows,
      columns: Object.fromEntries(Object.entries(table.columns).map(([id, value]) => [id, mark(id, value)])),
    };
  };
  for (let i = 0; i < bases; i += 1)
    tables.push(edit({ rows: `r${i}`, columns: Object.fromEntries(columnIds.map((id) => [id, `r${i}c${id}`])) }, i));
  for (const [k, recipe] of recipes.entries()) {
    const read = (place: InputColumn) => {
      const table = tables[Number(place.table.slice(1))] as Content;
      return place.column === null ? table.rows : `${table.rows}${table.columns[idsByName.get(place.column) as number]}`;
    };
    const whole = recipe.isOpaque ? inputsOf(recipe).map((name) => JSON.stringify(tables[Number(name.slice(1))])) : [];
    const rows = `(${[...recipe.rows.map(read), ...whole].join(',')})`;
    const columns = recipe.columns.map((places, c) => [c + 1, `${rows}(${places.map(read).join(',')})`]);
    tables.push(edit({ rows, columns: Object.fromEntries(columns) }, bases + k));
  }
  return tables;
}

const inputsOf = ({ rows, columns }: Recipe) => [...new Set([...rows, ...columns.flat()].map(({ table }) => table))];

function derive({ bases, recipes }: Graph): Derivation[] {
  return recipes.flatMap((recipe, k) => {
    const lineage: QueryLineage = {
      columns: recipe.columns.map((places, c) => ({ name: `c${c + 1}`, computedFrom: places.slice(0, 1), decidedBy: places.slice(1) })),
      rows: recipe.rows,
    };
    return inputsOf(recipe).map((input) => ({
      input,
      output: `t${bases + k}`,
      flows: recipe.isOpaque ? null : describeFlows(lineage, input, idsByName, idsByName),
    }));
  });
}

describe('staleness', () => {
  it('is what making everything again would change, in random graphs', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const [before, after] = [make(graph, false), make(graph, true)];
        const stale = findStale(derive(graph), `t${graph.changed}`, graph.change);
        for (let i = graph.bases; i < before.length; i += 1) {
          if (i === graph.changed) continue;
          const [was, is] = [before[i] as Content, after[i] as Content];
          const columns = Object.keys(was.columns).filter((id) => was.columns[id] !== is.columns[id]);
          const found = stale.get(`t${i}`);
          if (was.rows !== is.rows) expect(found).toBe('all');
          else if (columns.length > 0) expect(found).toEqual(new Set(columns.map(Number)));
          else expect(found).toBeUndefined();
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('passes through a table that only hands on', () => {
    const id = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    const copy = (name: string) => ({ name, computedFrom: [{ table: 'x', column: name }], decidedBy: [] });
    const flows = describeFlows({ columns: [copy('a'), copy('b')], rows: [{ table: 'x', column: null }] }, 'x', id, id);
    const sum = describeFlows(
      { columns: [{ name: 'a', computedFrom: [{ table: 'x', column: 'a' }], decidedBy: [{ table: 'x', column: null }] }], rows: [] },
      'x',
      id,
      id,
    );
    const graph = [
      { input: 'base', output: 'copy', flows },
      { input: 'copy', output: 'sum', flows: sum },
    ];
    expect(listUsedColumns(flows)).toEqual([1, 2]);
    expect(listUsedColumns(sum)).toEqual([1]);
    const stale = (columns: number[], rows = false) => Object.fromEntries(findStale(graph, 'base', { rows, columns: new Set(columns) }));
    expect(stale([2])).toEqual({ copy: new Set([2]) });
    expect(stale([1])).toEqual({ copy: new Set([1]), sum: new Set([1]) });
    expect(stale([], true)).toEqual({ copy: 'all', sum: new Set([1]) });
    expect(stale([9])).toEqual({});
  });
});

describe('dependency order', () => {
  const names = Array.from({ length: 8 }, (_, i) => `n${i}`);
  const edges = fc.array(fc.record({ input: fc.constantFrom(...names), output: fc.constantFrom(...names, 'elsewhere') }), {
    maxLength: 14,
  });

  it('puts each as early as its inputs allow, or names a cycle that is there', () => {
    fc.assert(
      fc.property(edges, (dependencies) => {
        const ordered = orderByDependency(names, dependencies);
        if (ordered.outcome === 'cycle') {
          const { path } = ordered;
          expect([path.length > 1, path[0], new Set(path).size]).toEqual([true, path.at(-1), path.length - 1]);
          for (const [i, output] of path.slice(1).entries()) expect(dependencies).toContainEqual({ input: path[i], output });
          return;
        }
        expect(ordered.levels.flat().sort()).toEqual(names);
        const levelOf = (name: string) => ordered.levels.findIndex((level) => level.includes(name));
        for (const name of names) expect(levelOf(name)).toBe(depthOf(name, dependencies));
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[string, [string, string][], string[]]>([
    ['itself', [['a', 'a']], ['a', 'a']],
    [
      'two',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      ['a', 'b', 'a'],
    ],
    [
      'behind a way in',
      [
        ['x', 'a'],
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
        ['c', 'z'],
      ],
      ['a', 'b', 'c', 'a'],
    ],
  ])('names the cycle: %s', (_, pairs, cycle) => {
    const dependencies = pairs.map(([input, output]) => ({ input, output }));
    const found = orderByDependency(['x', 'a', 'b', 'c', 'z'], dependencies);
    const path = found.outcome === 'cycle' ? found.path : [];
    // It may begin anywhere.
    const turned = path.slice(0, -1);
    while (turned.length > 0 && turned[0] !== cycle[0]) turned.push(turned.shift() as string);
    expect([...turned, turned[0]]).toEqual(cycle);
  });
});

/** The longest way from something without inputs. */
function depthOf(name: string, dependencies: Dependency[]): number {
  const inputs = dependencies.filter(({ output }) => output === name);
  return Math.max(0, ...inputs.map(({ input }) => depthOf(input, dependencies) + 1));
}
