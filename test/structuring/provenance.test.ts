import { describe, expect, it } from 'vitest';
import { joinCells, listCells } from '../../core/structuring/building/provenance.ts';
import { buildRawTable } from '../../core/structuring/building/raw.ts';
import { drawGrid } from './picture.ts';

const cells = (text: string) =>
  [...text.matchAll(/(\d+),(\d+)/g)].map(([, row, column]) => ({ row: Number(row), column: Number(column), target: Number(column) - 1 }));

describe('joinCells', () => {
  it.each([
    ['one cell', '1,1', ['A1']],
    ['neighbours in a row', '1,1 1,2 1,3', ['A1:C1']],
    ['a gap', '1,1 1,3', ['A1', 'C1']],
    ['rows apart, in the order of the sheet', '2,1 1,1', ['A1', 'A2']],
    ['a cell twice', '1,1 1,1 1,2', ['A1:B1']],
    ['none', '', []],
  ])('%s', (_, text, expected) => expect(joinCells(cells(text)).map(({ range }) => range)).toEqual(expected));

  it('says which columns the cells of a range filled', () => {
    const joined = joinCells([
      { row: 1, column: 1, target: 4 },
      { row: 1, column: 2, target: null },
      { row: 1, column: 3, target: 5 },
    ]);
    expect(joined).toEqual([{ range: 'A1:C1', targets: [4, 5] }]);
  });
});

describe('listCells', () => {
  const grid = drawGrid('a|b||d\ne||g|');
  const table = buildRawTable(grid);

  it.each([
    [0, undefined, ['A1:B1', 'D1']],
    [1, undefined, ['A2', 'C2']],
    [0, 3, ['D1']],
    [1, 3, []],
    [7, undefined, []],
  ])('row %d, column %s: %j', (row, column, expected) => expect(listCells(grid, table, row, column)).toEqual(expected));
});
