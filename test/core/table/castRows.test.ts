import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GivenRow } from '../../../core/cells/givenRow.ts';
import { castRows } from '../../../core/table/castRows.ts';
import { makeColumn, showColumns } from './makeTable.ts';

const columns = [makeColumn(1, 'name'), makeColumn(2, 'amount', 'BIGINT'), makeColumn(3, 'day', 'DATE')];
const cast = (rows: object[], masked: number[] = []) => castRows(showColumns(columns, masked), rows);

describe('rows that are right', () => {
  it.each([
    ['a new row', { name: 'a', amount: 1 }, { rowId: null, cells: { '1': 'a', '2': '1' }, given: [1, 2] }],
    ['a row by its id', { __svc_row_id: 7, day: '2024-04-01' }, { rowId: 7, cells: { '3': '2024-04-01' }, given: [3] }],
    ['names in another case', { NAME: 'a', Amount: null }, { rowId: null, cells: { '1': 'a', '2': null }, given: [1, 2] }],
    ['no cells at all', {}, { rowId: null, cells: {}, given: [] }],
    ['names and values apart', new GivenRow(['amount', '__svc_row_id'], ['12', 3]), { rowId: 3, cells: { '2': '12' }, given: [2] }],
  ])('%s', (_, row, expected) => {
    expect(cast([row])).toEqual({ kind: 'cast', rows: [expected] });
  });

  it('a column in its own case comes before one in another', () => {
    const twins = [makeColumn(1, 'a'), makeColumn(2, 'A')];
    expect(castRows(showColumns(twins), [{ a: 'x', A: 'y' }])).toEqual({
      kind: 'cast',
      rows: [{ rowId: null, cells: { '1': 'x', '2': 'y' }, given: [1, 2] }],
    });
  });
});

describe('what is wrong is said of each cell', () => {
  it.each([
    ['an unknown column', [{ name: 'a' }, { colour: 1 }], [[1, 'colour', 'is not a column of this table']]],
    ['a misspelt column', [{ amuont: 1 }], [[0, 'amuont', 'is not a column; did you mean amount?']]],
    ['a column twice', [{ name: 'a', Name: 'b' }], [[0, 'Name', 'names a column that stands in this row already (case does not count)']]],
    ['a value that does not fit', [{ amount: 'x' }], [[0, 'amount', 'must be a whole number']]],
    ['an id that is none', [{ __svc_row_id: 0 }], [[0, '__svc_row_id', 'must be a positive whole number; leave it out to insert a row']]],
    ['an id twice', [{ __svc_row_id: 4 }, { __svc_row_id: 4 }], [[1, '__svc_row_id', 'names a row that stands in this request already']]],
    [
      'the id of a row twice in it',
      [new GivenRow(['__svc_row_id', '__svc_row_id'], [1, 2])],
      [[0, '__svc_row_id', 'stands in this row twice']],
    ],
    [
      'several things, in order',
      [{ amount: 'x', day: 'y', __svc_row_id: -1 }],
      [
        [0, 'amount', 'must be a whole number'],
        [0, 'day', 'must be a date such as 2024-04-01'],
        [0, '__svc_row_id', 'must be a positive whole number; leave it out to insert a row'],
      ],
    ],
  ] as [string, object[], [number, string, string][]][])('%s', (_, rows, expected) => {
    expect(cast(rows)).toEqual({ kind: 'faulty', faults: expected.map(([row, name, why]) => ({ row, name, why })) });
  });

  it('at most a hundred times', () => {
    const result = cast(Array.from({ length: 200 }, () => ({ amount: 'x' })));
    expect(result.kind === 'faulty' && result.faults.length).toBe(100);
  });

  it('a masked column stops the whole of it, whatever else is wrong', () => {
    expect(cast([{ amount: 'x' }, { Name: 'a' }], [1])).toMatchObject({ kind: 'masked', column: columns[0] });
    expect(cast([{ amount: 1 }], [1]).kind).toBe('cast');
  });
});

it('each row is cast as it would be alone', () => {
  const anyRow = fc.dictionary(fc.constantFrom('name', 'NAME', 'amount', 'day', 'other'), fc.constantFrom('a', '1', '2024-04-01', null));
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 8 }), (rows) => {
      const alone = rows.map((row) => cast([row]));
      const together = cast(rows);
      const faults = alone.flatMap((one, row) => (one.kind === 'faulty' ? one.faults.map((fault) => ({ ...fault, row })) : []));
      if (faults.length > 0) expect(together).toEqual({ kind: 'faulty', faults });
      else expect(together).toEqual({ kind: 'cast', rows: alone.flatMap((one) => (one.kind === 'cast' ? one.rows : [])) });
    }),
  );
});
