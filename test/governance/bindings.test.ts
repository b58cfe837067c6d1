import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { setPolicy, tagColumn } from '../setup/governance.ts';
import { makeTable } from '../setup/tables.ts';
import { useGovernance } from './world.ts';

const { api, owner, makeWorkbook } = await useGovernance();
const path = '/api/v1/workbooks/{workbook_id}/artifacts/{name}/sync-bindings' as const;

async function makeBook() {
  const id = await makeWorkbook();
  const named = (name: string) => ({ params: { path: { workbook_id: id, name } } });
  await makeTable(owner.client, id, '社員', [{ name: '名前' }, { name: '給与' }]);
  const sheet = { actor: '佐藤', external_kind: 'google_sheets' as const, external_ref: 'sheet 1', direction: 'push' as const };
  return {
    id,
    bind: (more: Record<string, unknown> = {}, name = '社員') => owner.client.POST(path, { ...named(name), body: { ...sheet, ...more } }),
    list: async (client = owner.client) => ok(await client.GET(path, named('社員'))).sync_bindings,
    unbind: (binding_id: string) =>
      owner.client.DELETE(`${path}/{binding_id}`, { params: { path: { workbook_id: id, name: '社員', binding_id } } }),
  };
}

describe('sync-bindings', () => {
  it('are stored, replaced, listed and removed, and nothing else happens', async () => {
    const book = await makeBook();
    const first = ok(await book.bind({ ownership_map: { 名前: 'external' } }));
    expect(first).toMatchObject({ table: '社員', actor: '佐藤', direction: 'push', ownership_map: { 名前: 'external' }, warnings: [] });
    const again = ok(await book.bind({ direction: 'pull' }));
    expect(again).toMatchObject({ id: first.id, direction: 'pull', ownership_map: null, created_at: first.created_at });
    ok(await book.bind({ external_ref: 'sheet 2' }));
    expect((await book.list()).map(({ external_ref: ref }) => ref)).toEqual(['sheet 1', 'sheet 2']);
    expect((await book.unbind(first.id)).response.status).toBe(204);
    refused(await book.unbind(first.id), 404, 'not-found');
    expect((await book.list()).map(({ external_ref: ref }) => ref)).toEqual(['sheet 2']);
  });

  it('bind a sheet to one table', async () => {
    const book = await makeBook();
    await makeTable(owner.client, book.id, '部署', [{ name: 'a' }]);
    const { id } = ok(await book.bind());
    expect(refused(await book.bind({}, '部署'), 409, 'in-use').detail).toContain('社員');
    ok(await book.unbind(id));
    ok(await book.bind({}, '部署'));
    // A table that is gone holds on to nothing.
    ok(
      await owner.client.DELETE('/api/v1/workbooks/{workbook_id}/tables/{name}', {
        params: { path: { workbook_id: book.id, name: '部署' }, query: { expected_version: 'null' } },
      }),
    );
    expect(ok(await book.bind()).table).toBe('社員');
  });

  it('refuse columns that are not there', async () => {
    const book = await makeBook();
    expect(refused(await book.bind({ ownership_map: { 名: 'x' } }), 422, 'validation-failed').errors).toMatchObject([
      { pointer: '/ownership_map/名' },
    ]);
    expect(await book.list()).toEqual([]);
  });

  it('warn where columns are hidden from somebody, and name none that is denied to the reader', async () => {
    const book = await makeBook();
    ok(await book.bind({ ownership_map: { 名前: 'x', 給与: 'y' } }));
    await tagColumn(owner.client, book.id, '社員', '給与', 'hr');
    await tagColumn(owner.client, book.id, '社員', '名前', 'pii');
    expect((await book.list())[0]?.warnings).toEqual([]);
    await setPolicy(owner.client, book.id, 'hr', 'deny', '人事');
    await setPolicy(owner.client, book.id, 'pii', 'mask', '人事');
    expect((await book.list())[0]?.warnings).toEqual([
      '名前 is masked for some roles; outside the service no policy holds.',
      '給与 is denied to some roles; outside the service no policy holds.',
    ]);
    await setPolicy(owner.client, book.id, 'hr', 'deny');
    const [seen] = await book.list();
    expect(seen?.warnings).toEqual([
      '名前 is masked for some roles; outside the service no policy holds.',
      '1 column is denied to you; outside the service no policy holds.',
    ]);
    expect(seen?.ownership_map).toEqual({ 名前: 'x' });
    expect(ok(await book.bind()).warnings).toHaveLength(2);
    expect(JSON.stringify(seen)).not.toContain('給与');
  });

  it('need the role of an editor', async () => {
    const book = await makeBook();
    const token = ok(await owner.client.POST('/api/v1/me/tokens', { body: { name: 'reader', scopes: ['workbooks:read'] } })).token;
    const params = { path: { workbook_id: book.id, name: '社員' } };
    const body = { actor: 'x', external_kind: 'onedrive' as const, external_ref: 'x', direction: 'push' as const };
    refused(await api.as(token).POST(path, { params, body }), 403, 'missing-scope');
    expect(await book.list(api.as(token))).toEqual([]);
  });
});
