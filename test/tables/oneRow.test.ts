import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { type DrivenTable, useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();
const { client } = world.owner;
const rowPath = '/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}' as const;
const columnsPath = '/api/v1/workbooks/{workbook_id}/tables/{name}/columns' as const;

const driveRow = ({ path }: DrivenTable, row_id: number) => {
  const params = { path: { ...path, row_id } };
  return {
    read: (query: { columns?: string[]; at_version?: number; at?: string } = {}) => client.GET(rowPath, { params: { ...params, query } }),
    update: (row: Record<string, unknown>, expected_version: number | null = null, more: { rebase?: boolean; actor?: string } = {}) =>
      client.PATCH(rowPath, { params, body: { row, expected_version, ...more } }),
    remove: (expected_version: number | null = null, more: { rebase?: boolean; actor?: string } = {}) =>
      client.DELETE(rowPath, { params: { ...params, query: { expected_version: String(expected_version), ...more } } }),
  };
};

describe('readRow, updateRow and deleteRow: a row', () => {
  it('is read as it is and as it was, every digit kept', async () => {
    const table = await world.makeTable('一行', [{ name: '品目' }, { name: '金額', type: 'DECIMAL(30,10)' }, { name: '他', type: 'JSON' }]);
    ok(await table.upsert(Array.from({ length: 1500 }, (_, n) => ({ 品目: `p${n}`, 金額: `${n}.0000000001` }))));
    ok(await table.upsert([{ __svc_row_id: 3, 金額: '12345678901234567890.0000000001', 他: { a: 1 } }]));
    await world.label('三');
    const changed = { 品目: 'p2', 金額: '12345678901234567890.0000000001', 他: { a: 1 }, __svc_row_id: 3 };
    const row = driveRow(table, 3);
    expect(ok(await row.read())).toEqual({ name: '一行', row_id: 3, edit_version: 3, row: changed, masked_columns: [] });
    expect(ok(await row.read({ at_version: 2 })).row).toMatchObject({ 金額: '2.0000000001', 他: null });
    expect(ok(await row.read({ at: '三', columns: ['品目'] })).row).toEqual({ 品目: 'p2', __svc_row_id: 3 });
    expect(ok(await driveRow(table, 1500).read()).row).toMatchObject({ 品目: 'p1499' });
    const answer = await row.read();
    expect(answer.response.headers.get('etag')).toMatch(/"3\b/);
    for (const missing of [1501, 9007199254740991]) refused(await driveRow(table, missing).read(), 404, 'not-found');
    refused(await row.read({ at_version: 1 }), 404, 'not-found');
    refused(await row.read({ at_version: 99 }), 404, 'not-found');
    refused(await row.read({ at_version: 2, at: '三' }), 422, 'validation-failed');
    expect(refused(await row.read({ columns: ['品'] }), 422, 'validation-failed').errors).toMatchObject([{ pointer: '/query/columns' }]);
  });

  it('is updated and deleted as by the edits of many, logged and undone', async () => {
    const table = await world.makeTable('書く', [{ name: 'a', type: 'BIGINT' }, { name: 'b' }]);
    ok(
      await table.upsert([
        { a: 1, b: 'x' },
        { a: 2, b: 'y' },
      ]),
    );
    const row = driveRow(table, 1);
    const written = ok(await row.update({ a: 5 }, 2, { actor: '佐藤' }));
    expect(written).toMatchObject({ edit_version: 3, inserted: 0, updated: 1, row_ids: [1], stale: [] });
    // What was read can be sent back.
    expect(ok(await row.update({ ...ok(await row.read()).row, b: 'z' }, 3)).edit_version).toBe(4);
    expect((await table.read()).rows[0]).toEqual({ a: 5, b: 'z', __svc_row_id: 1 });
    const gone = ok(await row.remove(4, { actor: '佐藤' }));
    expect(gone).toMatchObject({ edit_version: 5, deleted: 1, stale: [] });
    refused(await row.read(), 404, 'not-found');
    const { ops } = await world.ops({ limit: 3 });
    expect(ops.map(({ kind, actor, undoable }) => [kind, actor === '佐藤', undoable])).toEqual([
      ['rows.delete', true, true],
      ['rows.upsert', false, true],
      ['rows.upsert', true, true],
    ]);
    ok(await world.undo(gone.op_id));
    expect(ok(await row.read()).row).toEqual({ a: 5, b: 'z', __svc_row_id: 1 });
    expect(ok(await table.history(1)).changes.length).toBe(5);
  });

  it('is locked by version, and rebased where nothing of it changed', async () => {
    const table = await world.makeTable('固い', [{ name: 'a' }, { name: 'b' }]);
    ok(await table.upsert([{ a: 'x' }, { a: 'y' }]));
    ok(await table.upsert([{ __svc_row_id: 1, a: 'z' }]));
    const [first, second] = [driveRow(table, 1), driveRow(table, 2)];
    expect(refused(await first.update({ a: 'q' }, 2), 409, 'version-conflict')).toMatchObject({ changed: [{ row_id: 1, columns: ['a'] }] });
    refused(await first.update({ a: 'q' }, 2, { rebase: true }), 409, 'version-conflict');
    ok(await first.update({ b: 'q' }, 2, { rebase: true }));
    refused(await first.remove(2, { rebase: true }), 409, 'version-conflict');
    refused(await second.remove(2), 409, 'version-conflict');
    ok(await second.remove(2, { rebase: true }));
    expect((await table.read()).rows).toEqual([{ a: 'z', b: 'q', __svc_row_id: 1 }]);
  });

  it('that does not exist or does not fit is refused with its place, and nothing changes', async () => {
    const table = await world.makeTable('無い', [{ name: 'a', type: 'DECIMAL(30,20)' }]);
    ok(await table.upsert([{ a: 1 }]));
    const row = driveRow(table, 1);
    refused(await driveRow(table, 2).update({ a: 1 }), 404, 'not-found');
    refused(await driveRow(table, 2).remove(), 404, 'not-found');
    const pointers = async (given: Record<string, unknown>) =>
      (refused(await row.update(given), 422, 'validation-failed').errors as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(await pointers({ a: 'x' })).toEqual(['/row/a']);
    expect(await pointers({ b: 1 })).toEqual(['/row/b']);
    expect(await pointers({ a: 1, __svc_row_id: 2 })).toEqual(['/row/__svc_row_id']);
    const address = `/api/v1/workbooks/${world.workbookId}/tables/${encodeURIComponent('無い')}/rows`;
    const patch = (id: string, body: string) =>
      api.fetch(`${address}/${id}`, { method: 'PATCH', token: world.owner.session, headers: { 'Content-Type': 'application/json' }, body });
    const long = await patch('1', '{"expected_version":null,"row":{"a":0.10000000000000000001}}');
    expect(await long.json()).toMatchObject({ errors: [{ pointer: '/row/a', detail: expect.stringContaining('as a string') }] });
    for (const id of ['0', 'x', '1.5', '9007199254740993'])
      expect([id, (await patch(id, '{"expected_version":null,"row":{"a":1}}')).status]).toEqual([id, 422]);
    expect((await patch('delete', '{"expected_version":null,"row":{"a":1}}')).status).toBe(405);
    expect(await table.read()).toMatchObject({ edit_version: 2 });
  });

  it('is written once for one key, however often it is sent', async () => {
    const table = await world.makeTable('一度', [{ name: 'a' }]);
    ok(await table.upsert([{ a: 'x' }, { a: 'y' }]));
    const address = `/api/v1/workbooks/${world.workbookId}/tables/${encodeURIComponent('一度')}/rows`;
    const send = (method: string, path: string, key: string, body?: string) =>
      api.fetch(path, {
        method,
        token: world.owner.session,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
        ...(body === undefined ? {} : { body }),
      });
    for (const repeat of [false, true]) {
      const updated = await send('PATCH', `${address}/1`, 'update', '{"expected_version":2,"row":{"a":"z"}}');
      expect([updated.status, updated.headers.has('idempotency-replayed')]).toEqual([200, repeat]);
      const deleted = await send('DELETE', `${address}/2?expected_version=3`, 'delete');
      expect([deleted.status, deleted.headers.has('idempotency-replayed')]).toEqual([200, repeat]);
    }
    expect(await table.read()).toMatchObject({ edit_version: 4, rows: [{ a: 'z', __svc_row_id: 1 }] });
  });
});

it('columns are changed under the table as under the artifact', async () => {
  const table = await world.makeTable('列', [{ name: 'a' }]);
  const { path } = table;
  expect(
    ok(await client.POST(columnsPath, { params: { path }, body: { column: 'b', type: 'BIGINT', expected_version: 1 } })),
  ).toMatchObject({
    column: 'b',
    type: 'BIGINT',
    edit_version: 2,
  });
  const onColumn = { ...path, column: 'b' };
  ok(await client.PATCH(`${columnsPath}/{column}`, { params: { path: onColumn }, body: { type: 'VARCHAR', expected_version: 2 } }));
  ok(await client.PUT(`${columnsPath}/{column}/description`, { params: { path: onColumn }, body: { description: '注' } }));
  expect(await table.columns()).toMatchObject([{ name: 'a' }, { name: 'b', type: 'VARCHAR', description: '注' }, { name: '__svc_row_id' }]);
  const query = { expected_version: '2' };
  refused(await client.DELETE(`${columnsPath}/{column}`, { params: { path: onColumn, query } }), 409, 'version-conflict');
  ok(await client.DELETE(`${columnsPath}/{column}`, { params: { path: onColumn, query: { expected_version: '3' } } }));
  expect((await table.columns()).map(({ name }) => name)).toEqual(['a', '__svc_row_id']);
});
