import { describe, expect, it } from 'vitest';
import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { jsonExpression } from '../../store/duckdb/json.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { ok, refused } from '../setup/api.ts';
import { makeWorkbookWith, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

describe("getRowHistory: a row's history", () => {
  it('tells every change by cell, newest first, under the newest name of each column', async () => {
    const table = await world.makeTable('told', [{ name: 'a' }, { name: 'd', type: 'DECIMAL(20,2)' }, { name: 'j', type: 'JSON' }]);
    ok(await table.upsert([{ a: 'x', d: '12345678901234567.8', j: { deep: [1] } }, { a: 'other' }]));
    const edit = ok(await table.upsert([{ __svc_row_id: 1, a: 'y', d: '12345678901234567.80' }]));
    ok(await table.rename('a', 'A 列'));
    ok(await table.remove([1]));
    const { changes, row_id, next_cursor } = ok(await table.history(1));
    expect([row_id, next_cursor]).toEqual([1, null]);
    expect(changes.map(({ edit_version, kind, cells }) => ({ edit_version, kind, cells }))).toEqual([
      {
        edit_version: 5,
        kind: 'delete',
        cells: [
          { column: 'A 列', old: 'y', new: null },
          { column: 'd', old: '12345678901234567.80', new: null },
          { column: 'j', old: { deep: [1] }, new: null },
        ],
      },
      { edit_version: 3, kind: 'update', cells: [{ column: 'A 列', old: 'x', new: 'y' }] },
      {
        edit_version: 2,
        kind: 'insert',
        cells: [
          { column: 'A 列', old: null, new: 'x' },
          { column: 'd', old: null, new: '12345678901234567.80' },
          { column: 'j', old: null, new: { deep: [1] } },
        ],
      },
    ]);
    expect(changes[1]).toMatchObject({ op_id: edit.op_id, user_id: world.owner.userId });
    const page = ok(await table.history(1, { limit: 2 }));
    expect(page.changes.map((change) => change.edit_version)).toEqual([5, 3]);
    const rest = ok(await table.history(1, { limit: 2, cursor: page.next_cursor ?? '' }));
    expect(rest.changes.map((change) => change.edit_version)).toEqual([2]);
    refused(await table.history(99), 404, 'not-found');
  });

  it('tells what a restore did to a column that was retyped, and no change of type alone', async () => {
    const other = await makeWorkbookWith(api);
    const table = await other.makeTable('turned', [{ name: 'a' }, { name: 'b' }, { name: 't', type: 'TIMESTAMP' }]);
    ok(await table.upsert([{ a: '1', b: '007', t: '2024-04-01T09:30:00.5' }]));
    const snapshot = await other.snapshot();
    ok(await table.upsert([{ __svc_row_id: 1, a: '11' }]));
    ok(await table.retype('a', 'BIGINT'));
    ok(await table.retype('b', 'BIGINT'));
    ok(await table.retype('t', 'VARCHAR'));
    await other.restore(snapshot);
    expect(
      ok(await table.history(1))
        .changes.map(({ edit_version, kind, cells }) => [edit_version, kind, cells])
        .slice(0, 3),
    ).toEqual([
      [
        7,
        'update',
        [
          { column: 'a', old: 11, new: '1' },
          { column: 'b', old: 7, new: '007' },
        ],
      ],
      [5, 'update', [{ column: 'b', old: '007', new: 7 }]],
      [3, 'update', [{ column: 'a', old: '1', new: '11' }]],
    ]);
  });

  it('reads large edits from their files', async () => {
    const table = await world.makeTable('told large', [{ name: 'a' }, { name: 'n', type: 'BIGINT' }]);
    const { row_ids: ids } = ok(await table.upsert(Array.from({ length: 1200 }, (_, n) => ({ n }))));
    const id = ids[5] as number;
    ok(await table.upsert(ids.slice(0, 1100).map((row) => ({ __svc_row_id: row, a: 'all' }))));
    ok(await table.upsert([{ __svc_row_id: id, n: -5 }]));
    expect(ok(await table.history(id)).changes.map(({ kind, cells }) => [kind, cells])).toEqual([
      ['update', [{ column: 'n', old: 5, new: -5 }]],
      ['update', [{ column: 'a', old: null, new: 'all' }]],
      ['insert', [{ column: 'n', old: null, new: 5 }]],
    ]);
  });

  it('writes values as the rows endpoint does', async () => {
    const samples: [string, (string | null)[]][] = [
      ['BIGINT', ['0', '-1', '9007199254740991', '9007199254740992', '-9223372036854775808', null]],
      ['DOUBLE', ['1', '1.5', '-0.25', '1e+300', '5e-324', '123456789012345680000']],
      ['DECIMAL(20,3)', ['0.000', '-12345678901234567.890']],
      ['BOOLEAN', ['true', 'false']],
      ['DATE', ['2024-02-29', '0001-01-01']],
      ['TIMESTAMP', ['2024-04-01 09:30:00', '2024-04-01 09:30:00.5', '2024-04-01 09:30:00.000001']],
      ['TIME', ['09:30:00', '23:59:59.25']],
      ['VARCHAR', ['', 'text "q" \\ \n 漢字 😀']],
      ['JSON', ['{"a":[1,null,"x"]}', '"text"', '12345678901234567890']],
    ];
    for (const [type, texts] of samples) {
      for (const text of texts) {
        const value = text === null ? 'NULL' : quoteText(text);
        const [[written]] = (await api.services.engine.use(async (connection) =>
          (
            await connection.runAndReadAll(`SELECT CAST(json_array(${jsonExpression(`CAST(${value} AS ${type})`, type)}) AS VARCHAR)`)
          ).getRows(),
        )) as [[string]];
        const mine = `[${cellJson(parseColumnType(type) as ColumnType, text)}]`;
        expect([type, text, JSON.parse(mine)]).toEqual([type, text, JSON.parse(written)]);
      }
    }
  });
});

describe('diffTable: a diff', () => {
  it('tells inserted, updated and deleted rows from the log, both ways', async () => {
    const table = await world.makeTable('diffed', [{ name: 'a' }, { name: 'n', type: 'BIGINT' }]);
    ok(await table.upsert([{ a: 'x', n: 1 }, { a: 'y', n: 2 }, { a: 'same' }]));
    ok(await table.upsert([{ __svc_row_id: 1, n: 5 }, { a: 'z' }]));
    ok(await table.remove([2]));
    ok(await table.upsert([{ __svc_row_id: 3, n: 9 }]));
    ok(await table.upsert([{ __svc_row_id: 3, n: null }]));
    expect(ok(await table.diff(2))).toEqual({
      name: 'diffed',
      from: 2,
      to: 6,
      inserted: [{ a: 'z', n: null, __svc_row_id: 4 }],
      updated: [{ row_id: 1, cells: [{ column: 'n', old: 1, new: 5 }] }],
      deleted: [{ a: 'y', n: 2, __svc_row_id: 2 }],
      inserted_count: 1,
      updated_count: 1,
      deleted_count: 1,
      truncated: false,
    });
    expect(ok(await table.diff(6, 2))).toMatchObject({
      inserted: [{ a: 'y' }],
      deleted: [{ a: 'z' }],
      updated: [{ row_id: 1, cells: [{ column: 'n', old: 5, new: 1 }] }],
    });
    expect(ok(await table.diff(3, 3))).toMatchObject({ inserted_count: 0, updated_count: 0, deleted_count: 0, truncated: false });
    refused(await table.diff(7), 404, 'not-found');
    refused(await table.diff('no such label'), 404, 'not-found');
    refused(await table.diff('snp_00000000000000000000000000'), 404, 'not-found');
  });

  it('follows renames, and compares all rows after a change of columns', async () => {
    const table = await world.makeTable('reshaped', [{ name: 'a' }, { name: 'v' }, { name: 'gone' }]);
    ok(await table.upsert([{ a: 'x', v: '007', gone: 'g' }, { a: 'y', v: '8' }, { a: 'z' }]));
    ok(await table.rename('a', 'b'));
    expect(ok(await table.diff(2))).toMatchObject({ updated_count: 0 });
    ok(await table.retype('v', 'BIGINT'));
    ok(await table.drop('gone'));
    ok(await table.add({ column: 'new', default: 'd' }));
    expect(ok(await table.diff(2)).updated).toEqual([
      {
        row_id: 1,
        cells: [
          { column: 'v', old: '007', new: 7 },
          { column: 'new', old: null, new: 'd' },
          { column: 'gone', old: 'g', new: null },
        ],
      },
      {
        row_id: 2,
        cells: [
          { column: 'v', old: '8', new: 8 },
          { column: 'new', old: null, new: 'd' },
        ],
      },
      { row_id: 3, cells: [{ column: 'new', old: null, new: 'd' }] },
    ]);
  });

  it('tells no change of a whole number that became a DOUBLE', async () => {
    const table = await world.makeTable('number', [{ name: 'n', type: 'BIGINT' }]);
    ok(await table.upsert([{ n: 5 }, { n: 0 }, { n: null }]));
    ok(await table.retype('n', 'DOUBLE'));
    ok(await table.upsert([{ __svc_row_id: 2, n: 0.5 }]));
    const cells = (old: number, now: number) => [{ row_id: 2, cells: [{ column: 'n', old, new: now }] }];
    expect(ok(await table.diff(2))).toMatchObject({ updated: cells(0, 0.5), updated_count: 1 });
    expect(ok(await table.diff(4, 2))).toMatchObject({ updated: cells(0.5, 0), updated_count: 1 });
  });

  it('reaches over restores, and takes snapshots and labels for versions', async () => {
    const other = await makeWorkbookWith(api);
    const table = await other.makeTable('restored', [{ name: 'a' }, { name: 'n', type: 'BIGINT' }]);
    ok(
      await table.upsert([
        { a: 'x', n: 1 },
        { a: 'y', n: 2 },
      ]),
    );
    const snapshot = await other.snapshot();
    const edit = ok(await table.upsert([{ __svc_row_id: 1, n: 5 }, { a: 'new' }]));
    ok(await table.remove([2]));
    await other.label('2024');
    await other.restore(snapshot);
    ok(await table.upsert([{ __svc_row_id: 2, n: 9 }]));
    expect(ok(await table.diff(snapshot))).toMatchObject({
      from: 2,
      to: 6,
      updated: [{ row_id: 2, cells: [{ column: 'n', old: 2, new: 9 }] }],
      inserted_count: 0,
      deleted_count: 0,
    });
    expect(ok(await table.diff('2024', snapshot))).toMatchObject({
      from: 4,
      to: 2,
      inserted: [{ a: 'y' }],
      updated: [{ row_id: 1 }],
      deleted: [{ a: 'new' }],
    });
    refused(await (await other.makeTable('later', [{ name: 'a' }])).diff(snapshot), 404, 'not-found');
    // A restore changes rows without an entry for each: history tells of it, and undo notices.
    expect(ok(await table.history(1)).changes.map(({ edit_version, kind, cells }) => [edit_version, kind, cells])).toEqual([
      [5, 'update', [{ column: 'n', old: 5, new: 1 }]],
      [3, 'update', [{ column: 'n', old: 1, new: 5 }]],
      [
        2,
        'insert',
        [
          { column: 'a', old: null, new: 'x' },
          { column: 'n', old: null, new: 1 },
        ],
      ],
    ]);
    expect(ok(await table.history(2)).changes.map(({ kind }) => kind)).toEqual(['update', 'insert', 'delete', 'insert']);
    expect(refused(await other.undo(edit.op_id), 409, 'version-conflict').changed).toEqual([
      { row_id: 1, columns: ['n'] },
      { row_id: 3, columns: ['a'] },
    ]);
    const stale = refused(await table.upsert([{ __svc_row_id: 2, a: 'z' }], 4, { rebase: true }), 409, 'version-conflict');
    expect(stale).toMatchObject({
      current_version: 6,
      changed_truncated: true,
      suggested_fix: expect.stringContaining('does not list all'),
    });
  });

  it('is capped for each kind, and counts all', async () => {
    const table = await world.makeTable('capped', [{ name: 'n', type: 'BIGINT' }]);
    const { row_ids: ids } = ok(await table.upsert(Array.from({ length: 6000 }, (_, n) => ({ n }))));
    ok(await table.upsert(ids.slice(0, 5500).map((id) => ({ __svc_row_id: id, n: -1 }))));
    ok(await table.remove(ids.slice(5500, 5510)));
    const diff = ok(await table.diff(2, undefined, 3));
    expect(diff).toMatchObject({ updated_count: 5500, deleted_count: 10, inserted_count: 0, truncated: true });
    expect([diff.updated.length, diff.deleted.length]).toEqual([3, 3]);
    expect(diff.updated[0]).toEqual({ row_id: ids[0], cells: [{ column: 'n', old: 0, new: -1 }] });
    expect(ok(await table.diff(3, 4)).deleted_count).toBe(10);
  });
});
