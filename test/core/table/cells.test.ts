import { expect, it } from 'vitest';
import { fillDefaults, readCell } from '../../../core/table/cells.ts';
import { makeColumn } from './makeTable.ts';

it.each([
  ['written before the column', {}, '7'],
  ['an explicit null', { '1': null }, null],
  ['a value', { '1': '8' }, '8'],
])('a default is read where nothing was written: %s', (_, cells, expected) => {
  expect(readCell(cells, makeColumn(1, 'a', 'BIGINT', '7'))).toBe(expected);
});

it('a row is filled under the columns that there are, without those that ended', () => {
  const columns = [makeColumn(2, 'b', 'BIGINT', '7'), makeColumn(3), makeColumn(4, 'd', 'VARCHAR', 'x')];
  expect(fillDefaults(columns, { '1': 'ended', '3': 'c', '4': null })).toEqual({ '2': '7', '3': 'c', '4': null });
});
