import { describe, expect, it } from 'vitest';
import { matchHeader } from '../../../core/merge/matchHeader.ts';
import { makeColumn, showColumns } from '../table/makeTable.ts';

const exported = [
  { id: 1, name: '日付', masked: false },
  { id: 2, name: 'Amount', masked: false },
  { id: 3, name: 'secret', masked: true },
];
const current = showColumns([makeColumn(1, '日付'), makeColumn(2, 'Total'), makeColumn(3, 'secret'), makeColumn(4, 'new')], [3]);
const id = '__svc_row_id';

describe('the header of a returned file', () => {
  it.each<[what: string, names: (string | null)[], rowId: number, columns: [place: number, id: number][]]>([
    [
      'as it was exported',
      ['日付', 'Amount', 'secret', id],
      3,
      [
        [0, 1],
        [1, 2],
      ],
    ],
    [
      'in another order',
      [id, 'Amount', '日付'],
      0,
      [
        [1, 2],
        [2, 1],
      ],
    ],
    ['with columns left out', ['日付', id], 1, [[0, 1]]],
    ['with the new name of a column', [id, 'Total'], 0, [[1, 2]]],
    ['with blanks and in another case', [id, ' amount '], 0, [[1, 2]]],
    ['with columns without a name', [null, id, '', '日付'], 1, [[3, 1]]],
  ])('is understood %s', (_, names, rowId, columns) => {
    const match = matchHeader(names, exported, current);
    expect(match).toMatchObject({ kind: 'matched', header: { rowId } });
    if (match.kind === 'matched') expect(match.header.columns.map(({ place, column }) => [place, column.id])).toEqual(columns);
  });

  it.each<[what: string, names: (string | null)[], name: string, why: RegExp]>([
    ['no row ids', ['日付'], id, /is missing/],
    ['a new column', [id, 'remark'], 'remark', /is no column of the export/],
    ['a column that was not exported', [id, 'new'], 'new', /is no column of the export/],
    ['a column twice', [id, '日付', '日付'], '日付', /twice/],
    ['a column under both of its names', [id, 'Amount', 'Total'], 'Total', /twice/],
    ['row ids twice', [id, id], id, /twice/],
  ])('is refused with %s', (_, names, name, why) => {
    expect(matchHeader(names, exported, current)).toEqual({
      kind: 'faulty',
      faults: [expect.objectContaining({ name, why: expect.stringMatching(why) })],
    });
  });

  it('is refused with a column that ended since the export', () => {
    const match = matchHeader([id, '日付'], exported, current.slice(1));
    expect(match).toMatchObject({
      kind: 'faulty',
      faults: [{ place: 1, name: '日付', why: expect.stringMatching(/is no column of the export/) }],
    });
  });
});
