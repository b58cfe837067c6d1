import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

const columns = [{ name: '品目' }, { name: '数', type: 'BIGINT' }, { name: '額', type: 'DECIMAL(10,2)' }, { name: '他', type: 'JSON' }];

describe('readRange and writeRange: a range', () => {
  it('reads the table as a sheet, without trailing blanks', async () => {
    const table = await world.makeTable('sheet', columns);
    ok(await table.upsert([{ 品目: 'りんご', 数: 3, 額: '1.5' }, { 品目: 'みかん' }, { 他: { a: 1 } }, { 品目: 'end' }, {}]));
    ok(await table.remove([2]));
    expect(ok(await table.range('A1:D3'))).toEqual({
      range: 'A1:D3',
      values: [
        ['品目', '数', '額', '他'],
        ['りんご', 3, '1.50', null],
        [null, null, null, '{"a":1}'],
      ],
    });
    expect(ok(await table.range('A2:ZZ1000'))).toEqual({
      range: 'A2:D4',
      values: [
        ['りんご', 3, '1.50', null],
        [null, null, null, '{"a":1}'],
        ['end', null, null, null],
      ],
    });
    expect(ok(await table.range('c2:b2'))).toEqual({ range: 'B2:C2', values: [[3, '1.50']] });
    expect(ok(await table.range('B1'))).toEqual({ range: 'B1', values: [['数']] });
    expect(ok(await table.range('B4:C9'))).toEqual({ range: 'B4', values: [] });
    expect(ok(await table.range('F50:G60'))).toEqual({ range: 'F50', values: [] });
  });

  it('is written as an upsert: null leaves, "" clears, a formula is text, rows past the end are new', async () => {
    const table = await world.makeTable('written', columns);
    const first = ok(
      await table.write(
        'A2',
        [
          ['=SUM(A1)', 1, '2.5', '{"a": 1}'],
          ['b', 2, null, ''],
        ],
        1,
      ),
    );
    expect(first).toMatchObject({
      range: 'A2:D3',
      edit_version: 2,
      values: [
        ['=SUM(A1)', 1, '2.50', '{"a":1}'],
        ['b', 2, null, null],
      ],
    });
    expect((await world.ops({ limit: 1 })).ops[0]).toMatchObject({ op_id: first.op_id, kind: 'rows.upsert', undoable: true });
    const second = ok(
      await table.write(
        'A3:B5',
        [
          [null, ''],
          ['c', null],
          [null, null],
        ],
        2,
      ),
    );
    expect(second.values).toEqual([
      ['b', null],
      ['c', null],
      [null, null],
    ]);
    expect(await table.read()).toMatchObject({
      row_count: 3,
      rows: [
        { 品目: '=SUM(A1)', 数: 1, 額: '2.50', 他: { a: 1 }, __svc_row_id: 1 },
        { 品目: 'b', 数: null, __svc_row_id: 2 },
        { 品目: 'c', 数: null, __svc_row_id: 3 },
      ],
    });
    ok(await world.undo(second.op_id));
    expect(ok(await table.range('A2:B9')).values).toEqual([
      ['=SUM(A1)', 1],
      ['b', 2],
    ]);
  });

  it('counts positions, not ids', async () => {
    const table = await world.makeTable('positions', [{ name: 'n', type: 'BIGINT' }]);
    const { row_ids: ids } = ok(await table.upsert(Array.from({ length: 3000 }, (_, n) => ({ n }))));
    ok(await table.remove(ids.slice(10, 20)));
    expect(ok(await table.range('A11:A13')).values).toEqual([[9], [20], [21]]);
    ok(await table.write('A12', [[-20]]));
    expect((await table.read({ offset: 10, limit: 1 })).rows[0]).toEqual({ n: -20, __svc_row_id: ids[20] });
    expect(ok(await table.range('A2990:A3000')).values.length).toBe(2);
    ok(
      await table.write(
        'A2992',
        Array.from({ length: 1000 }, (_, i) => [i]),
      ),
    );
    expect((await table.read({ limit: 1 })).row_count).toBe(3990);
  });

  it('is locked by version like rows; a rebase finds the rows where the caller saw them', async () => {
    const table = await world.makeTable('rebased', columns);
    ok(await table.upsert([{ 品目: 'a' }, { 品目: 'b' }, { 品目: 'c' }], 1));
    ok(await table.remove([1], 2));
    refused(await table.write('B3', [[1]], 2), 409, 'version-conflict');
    ok(await table.write('B3', [[1]], 2, { rebase: true }));
    expect((await table.read()).rows.map((row) => [row.品目, row.数])).toEqual([
      ['b', 1],
      ['c', null],
    ]);
    refused(await table.write('B2', [[1]], 2, { rebase: true }), 409, 'version-conflict');
  });

  it.each(['A', 'A0', 'ZZZZ1', 'A1:B', '1:2', 'A:C', 'A1:B2:C3', 'A-1', 'A1048577', '甲1', ' :A1', 'XFE1'])(
    'such as %j is refused to readers and writers',
    async (range) => {
      const table = await world.makeTable(`bad ${range}`, columns);
      refused(await table.range(range), 422, 'validation-failed');
      refused(await table.write(range, [['x']]), 422, 'validation-failed');
      expect((await table.read()).edit_version).toBe(1);
    },
  );

  it('refuses values that do not fill it, the header, columns past the last, a gap; each cell that does not fit', async () => {
    const table = await world.makeTable('refusing', columns);
    ok(await table.upsert([{ 品目: 'a' }]));
    const pointers = async (range: string, values: (string | number | null)[][]) =>
      (refused(await table.write(range, values), 422, 'validation-failed').errors as { pointer: string }[]).map((each) => each.pointer);
    expect(await pointers('A2:B3', [['x', 1]])).toEqual(['/values']);
    expect(await pointers('A2:B3', [['x'], ['y']])).toEqual(['/values']);
    expect(await pointers('A2', [['x', 1], ['y']])).toEqual(['/values']);
    expect(await pointers('A2', [[]])).toEqual(['/values']);
    expect(await pointers('A1:A2', [['new name'], ['x']])).toEqual(['/range']);
    expect(await pointers('D2', [['1', 'x']])).toEqual(['/range']);
    expect(await pointers('A4', [['x']])).toEqual(['/range']);
    expect(
      await pointers('A2', [
        ['x', 'many'],
        ['y', 1.5],
        ['z', 3],
      ]),
    ).toEqual(['/values/0/1', '/values/1/1']);
    expect(await pointers('D2', [['{not json']])).toEqual(['/values/0/0']);
    expect((await table.read()).edit_version).toBe(2);
    expect(
      ok(
        await table.write('B3:A2', [
          ['r', 1],
          ['s', 2],
        ]),
      ).range,
    ).toBe('A2:B3');
  });
});

describe('writeRange: a rebased range', () => {
  const path = async (name: string) => {
    const table = await world.makeTable(name, [{ name: 'a' }, { name: 'b' }]);
    ok(await table.upsert([{ a: 'r1' }, { a: 'r2' }, { a: 'r3' }]));
    return table;
  };

  it('is refused where the version that the caller saw cannot be read any more: its rows would be others', async () => {
    const table = await path('forgotten');
    ok(await table.remove([1]));
    await api.sql.query(
      'DELETE FROM table_versions WHERE edit_version = 2 AND table_id = (SELECT id FROM tables WHERE workbook_id = $1 AND name = $2)',
      [world.workbookId, 'forgotten'],
    );
    refused(await table.write('A3', [['w']], 2, { rebase: true }), 409, 'version-conflict');
    expect((await table.read()).rows.map(({ a }) => a)).toEqual(['r2', 'r3']);
  });

  it('is a conflict, not a bad range, where columns went meanwhile', async () => {
    const table = await path('narrowed');
    ok(await table.drop('b'));
    refused(await table.write('B2', [['w']], 2, { rebase: true }), 409, 'version-conflict');
  });
});
