import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairColumns } from '../../../core/table/pairColumns.ts';
import { makeColumn } from './makeTable.ts';

describe('columns of two versions are paired', () => {
  it.each([
    ['by id, whatever they are called', [[1, 'a']], [[1, 'b']], [[1, 1]]],
    ['by name after a retype', [[1, 'a']], [[2, 'A']], [[1, 2]]],
    [
      'by id before name',
      [
        [1, 'a'],
        [2, 'b'],
      ],
      [
        [2, 'a'],
        [3, 'b'],
      ],
      [
        [2, 2],
        [null, 3],
        [1, null],
      ],
    ],
    [
      'not when one was added',
      [[1, 'a']],
      [
        [1, 'a'],
        [2, 'b'],
      ],
      [
        [1, 1],
        [null, 2],
      ],
    ],
    [
      'not when one was dropped',
      [
        [1, 'a'],
        [2, 'b'],
      ],
      [[2, 'b']],
      [
        [2, 2],
        [1, null],
      ],
    ],
    [
      'in the order of the right',
      [
        [1, 'a'],
        [2, 'b'],
      ],
      [
        [2, 'b'],
        [1, 'a'],
      ],
      [
        [2, 2],
        [1, 1],
      ],
    ],
  ] as [string, [number, string][], [number, string][], [number | null, number | null][]][])('%s', (_, left, right, expected) => {
    const make = (columns: [number, string][]) => columns.map(([id, name]) => makeColumn(id, name));
    expect(pairColumns(make(left), make(right)).map((pair) => [pair.left?.id ?? null, pair.right?.id ?? null])).toEqual(expected);
  });

  it('each stands in one pair', () => {
    const anyColumns = fc.uniqueArray(
      fc.record({ id: fc.integer({ min: 1, max: 6 }), name: fc.constantFrom('a', 'A', 'b', 'c', 'd', 'e') }),
      { comparator: (a, b) => a.id === b.id || a.name.toLowerCase() === b.name.toLowerCase() },
    );
    fc.assert(
      fc.property(anyColumns, anyColumns, (left, right) => {
        const pairs = pairColumns(
          left.map(({ id, name }) => makeColumn(id, name)),
          right.map(({ id, name }) => makeColumn(id, name)),
        );
        expect(pairs.flatMap((pair) => pair.right?.id ?? [])).toEqual(right.map(({ id }) => id));
        expect(pairs.flatMap((pair) => pair.left?.id ?? []).sort()).toEqual(left.map(({ id }) => id).sort());
        for (const pair of pairs)
          if (pair.left && pair.right && pair.left.id !== pair.right.id) {
            expect(pair.left.name.toLowerCase()).toBe(pair.right.name.toLowerCase());
            expect(right.some(({ id }) => id === pair.left?.id)).toBe(false);
          }
      }),
    );
  });
});
