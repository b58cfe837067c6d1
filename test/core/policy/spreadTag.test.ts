import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Flows } from '../../../core/lineage/flows.ts';
import { inheritTags } from '../../../core/policy/inheritTags.ts';
import { spreadTag } from '../../../core/policy/spreadTag.ts';
import { type ColumnPlace, listReached, reverseFlows, type TagEdge } from '../../../core/policy/tagFlows.ts';

const allColumns = [1, 2, 3];
const transform = (input: string, output: string, columns: Flows['columns'] | null): TagEdge => ({
  input,
  output,
  kind: 'transform',
  flows: columns && { rows: 'all', columns },
  ranges: [],
});
const structuring = (input: string, output: string, columns: Flows['columns'] | null, ...ranges: string[]): TagEdge => ({
  ...transform(input, output, columns),
  kind: 'structuring',
  ranges,
});
const at = (place: string): ColumnPlace => ({ table: place.slice(0, -1), column: Number(place.slice(-1)) });
const spread = (start: string, edges: TagEdge[], removed: string[] = [], same: Record<string, number[]> = {}) =>
  spreadTag(
    at(start),
    { edges, columnsOf: () => allColumns, sameColumn: ({ table, column }) => same[`${table}${column}`] ?? [] },
    ({ table, column }) => removed.includes(`${table}${column}`),
  )
    .map(({ table, column }) => `${table}${column}`)
    .sort();

describe('a tag flows', () => {
  it.each<[string, string, TagEdge[], string[], string[]]>([
    ['to the columns that are computed from it', 'a1', [transform('a', 'b', { 1: [2], 2: [3] })], [], ['b2']],
    ['to every column of which it decides the rows', 'a1', [transform('a', 'b', { 1: 'all' })], [], ['b1', 'b2', 'b3']],
    ['to everything where it is not known', 'a1', [transform('a', 'b', null)], [], ['b1', 'b2', 'b3']],
    ['on from there', 'a1', [transform('a', 'b', { 1: [2] }), transform('b', 'c', { 2: [1] })], [], ['b2', 'c1']],
    ['not back along a transform', 'b2', [transform('a', 'b', { 1: [2] })], [], []],
    ['not past a column from which it was taken', 'a1', [transform('a', 'b', { 1: [2] }), transform('b', 'c', { 2: [1] })], ['b2'], []],
    [
      'from a raw column to what holds its cells',
      'r1',
      [structuring('r', 's', { 1: [3] }), structuring('r', 't', { 1: [1] })],
      [],
      ['s3', 't1'],
    ],
    ['back to the raw columns that hold the same cells', 's3', [structuring('r', 's', { 1: [3], 2: [3], 3: [1] })], [], ['r1', 'r2']],
    [
      'from there to what was derived from the raw table, and to others with the same cells',
      's3',
      [
        structuring('r', 's', { 1: [3] }, 'A1:C9'),
        structuring('r', 't', { 1: [1] }, 'A9:C20'),
        structuring('r', 'u', { 1: [2] }, 'A21:C30'),
        transform('r', 'd', { 1: [1] }),
      ],
      [],
      ['d1', 'r1', 't1'],
    ],
  ])('%s', (_, start, edges, removed, reached) => {
    expect(spread(start, edges, removed)).toEqual(reached);
  });

  it('to a column under all ids that it had, and from each of them on', () => {
    expect(spread('a2', [transform('a', 'b', { 1: [1] })], [], { a2: [1], a1: [2] })).toEqual(['a1', 'b1']);
  });

  it('as far as run by run, table by table', () => {
    // Tables in a row, each made from some before it: what a tag set last reaches is what it reaches when it was there first.
    const flows = fc.option(fc.dictionary(fc.constantFrom('1', '2', '3'), fc.oneof(fc.constant('all' as const), fc.subarray([1, 2, 3]))), {
      nil: null,
    });
    const edge = fc.record({ input: fc.nat(4), step: fc.integer({ min: 1, max: 3 }), flows });
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 12 }), fc.subarray(['t1 1', 't2 2', 't3 3']), (drawn, removed) => {
        const edges = drawn.map(({ input, step, flows: columns }) =>
          transform(`t${input}`, `t${input + step}`, columns as Flows['columns'] | null),
        );
        const places = removed.map((place) => ({ table: place.slice(0, 2), column: Number(place.slice(3)), tag: 'x' }));
        const start = { table: 't0', column: 1 };
        const late = spreadTag(start, { edges, columnsOf: () => allColumns, sameColumn: () => [] }, ({ table, column }) =>
          places.some((place) => place.table === table && place.column === column),
        );
        const tags = [{ ...start, tag: 'x' }];
        for (let n = 1; n <= 7; n += 1) {
          const made = edges.filter(({ output }) => output === `t${n}`);
          tags.push(
            ...inheritTags(
              made,
              allColumns,
              tags,
              places.filter(({ table }) => table === `t${n}`),
            ),
          );
        }
        const write = (all: ColumnPlace[]) => all.map(({ table, column }) => `${table} ${column}`).sort();
        expect(write(late)).toEqual(write(tags.slice(1)));
      }),
    );
  });
});

describe('flows back', () => {
  it('reach from a column what reaches it', () => {
    const columns = { 1: [2, 3], 2: [3], 3: 'all' as const };
    const back = reverseFlows({ rows: 'all', columns }, allColumns);
    const reached = (column: number) => listReached({ output: 'r', flows: back }, column, () => allColumns);
    expect([reached(1), reached(2), reached(3)]).toEqual([[3], [1, 3], [1, 2, 3]]);
  });
});
