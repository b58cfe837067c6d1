import { describe, expect, it } from 'vitest';
import type { Scalar } from '../../../core/a1/block.ts';
import { castBlock } from '../../../core/table/castBlock.ts';
import { typeColumns } from '../../../core/table/casting.ts';
import type { Cells } from '../../../core/table/table.ts';
import { makeColumn, showColumns } from './makeTable.ts';

const columns = [makeColumn(1, 'name'), makeColumn(2, 'amount', 'BIGINT'), makeColumn(3, 'more', 'JSON')];
const cast = (values: Scalar[][], rowIds: number[], masked: number[] = []) =>
  castBlock(typeColumns(showColumns(columns, masked)), values, rowIds);

describe('a block becomes rows', () => {
  it.each([
    ['null leaves a cell as it is', [['a', null, null]], [5], [[5, { '1': 'a' }]]],
    ['an empty text clears it', [['', 1, '']], [5], [[5, { '1': null, '2': '1', '3': null }]]],
    ['a row of nulls is left alone', [[null], ['b']], [5, 6], [[6, { '1': 'b' }]]],
    [
      'past the end rows are new',
      [['a'], ['b']],
      [5],
      [
        [5, { '1': 'a' }],
        [null, { '1': 'b' }],
      ],
    ],
    [
      'an empty one between new ones is kept',
      [[null], ['b'], [null]],
      [],
      [
        [null, {}],
        [null, { '1': 'b' }],
      ],
    ],
    ['no new ones without anything', [[null], [null]], [], []],
    ['JSON stands in a cell as its text', [[null, null, '{"a": [1]}']], [5], [[5, { '3': '{"a":[1]}' }]]],
  ] as [string, Scalar[][], number[], [number | null, Cells][]][])('%s', (_, values, rowIds, expected) => {
    expect(cast(values, rowIds)).toEqual({
      kind: 'cast',
      rows: expected.map(([rowId, cells]) => ({ rowId, cells, given: Object.keys(cells).map(Number) })),
    });
  });

  it('says what is wrong with which cells', () => {
    expect(
      cast(
        [
          ['a', 'x'],
          [null, 1, '{'],
        ],
        [1],
      ),
    ).toEqual({
      kind: 'faulty',
      faults: [
        { row: 0, column: 1, why: 'must be a whole number' },
        { row: 1, column: 2, why: 'must be JSON' },
      ],
    });
  });

  it('a masked column takes null alone', () => {
    expect(cast([['a', 1]], [1], [2])).toMatchObject({ kind: 'masked', column: columns[1] });
    expect(cast([['a', null]], [1], [2]).kind).toBe('cast');
  });
});
