import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areDisjoint, type CellSet, changedCells, mayRebase, nameCells, noChanges, touchedCells } from '../../../core/table/changes.ts';
import { makeAt, makeColumn } from './makeTable.ts';

const columns = [makeColumn(1, 'a'), makeColumn(2, 'b'), makeColumn(3, 'c')];

const anyColumns = fc.oneof(fc.constant('row' as const), fc.subarray([1, 2, 3], { minLength: 1 }));
const anyCells: fc.Arbitrary<CellSet> = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 5 }), anyColumns), { selector: ([id]) => id, maxLength: 4 })
  .map((rows) => new Map(rows));

/** Each cell by itself. */
const spell = (cells: CellSet) => [...cells].flatMap(([row, ids]) => [...(ids === 'row' ? [1, 2, 3] : ids)].map((id) => `${row}/${id}`));

describe('two edits are disjoint', () => {
  it('when they have no cell in common, in either order', () => {
    fc.assert(
      fc.property(anyCells, anyCells, (a, b) => {
        const common = spell(a).some((cell) => spell(b).includes(cell));
        expect(areDisjoint(a, b)).toBe(!common);
        expect(areDisjoint(b, a)).toBe(!common);
      }),
    );
  });

  it('not when one takes the row away of which the other wrote nothing', () => {
    expect(areDisjoint(new Map([[1, 'row']]), new Map([[1, new Set<number>()]]))).toBe(false);
  });
});

it('new rows touch nothing that exists', () => {
  const rows = [
    { rowId: null, cells: {}, given: [1] },
    { rowId: 4, cells: {}, given: [2] },
  ];
  expect(touchedCells(rows)).toEqual(new Map([[4, [2]]]));
});

it('entries change the cells that they list; a row that came or went has changed as a whole', () => {
  const changed = changedCells(
    [
      { rowId: 1, op: 'U', changed: [1] },
      { rowId: 2, op: 'I', changed: [1] },
      { rowId: 1, op: 'U', changed: [3] },
      { rowId: 3, op: 'D', changed: [1, 9] },
      { rowId: 4, op: 'U', changed: [] },
    ],
    columns,
  );
  expect(changed).toEqual(
    new Map([
      [1, new Set([1, 3])],
      [2, new Set([1, 2, 3])],
      [3, new Set([1, 2, 3])],
      [4, new Set()],
    ]),
  );
});

describe('an edit may be applied to a later version', () => {
  const at = makeAt({ editVersion: 5 });
  const touched: CellSet = new Map([[1, [1]]]);
  const other = { ...noChanges, rows: new Map([[1, new Set([2])]]) };
  it.each([
    ['when other cells changed', 3, other, true],
    ['when nothing did', 4, noChanges, true],
    ['not when the same cell changed', 3, { ...noChanges, rows: new Map([[1, new Set([1])]]) }, false],
    ['not when not all is known', 3, { ...other, truncated: true }, false],
    ['not when columns changed', 3, { ...other, schema: true }, false],
    ['not when it was made on no version', 0, other, false],
    ['not when it was made on a version to come', 6, noChanges, false],
  ])('%s', (_, expected, changes, allowed) => {
    expect(mayRebase(at, expected, touched, changes)).toBe(allowed);
  });
});

it('cells are named by columns that are to be seen; rows without any are not named', () => {
  const cells = new Map([
    [1, [1, 2]],
    [2, [3]],
    [3, [9, 2]],
  ]);
  expect(nameCells(cells, columns.slice(0, 2))).toEqual([
    { rowId: 1, columns: ['a', 'b'] },
    { rowId: 3, columns: ['b'] },
  ]);
});
