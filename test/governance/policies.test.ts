import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, ok, type Person, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { setPolicy, tagColumn, untagColumn } from '../setup/governance.ts';
import { makeTable } from '../setup/tables.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;

let api: TestApi;
let owner: Person;
let editor: Person;
let viewer: Person;
let team: string;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  [owner, editor, viewer] = [await api.signUp(), await api.signUp(), await api.signUp()];
  team = await makeWorkspace(owner.client, 'Team');
  for (const [{ email }, role] of [[editor, 'editor'] as const, [viewer, 'viewer'] as const])
    ok(
      await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: team } },
        body: { email, role },
      }),
    );
});
afterAll(() => api.stop());

const giveRoles = async ({ userId }: Person, roles: string[]) =>
  ok(
    await owner.client.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', {
      params: { path: { workspace_id: team, user_id: userId } },
      body: { roles },
    }),
  );

/** A workbook with a table of people. */
async function makeBook() {
  const id = await makeWorkbook(owner.client, 'People', team);
  const columns = [{ name: '名前' }, { name: '給与', type: 'BIGINT' }, { name: '住所' }];
  await makeTable(owner.client, id, '社員', columns, [{ 名前: '佐藤', 給与: 500, 住所: '東京' }]);
  const path = { workbook_id: id };
  const named = { params: { path: { ...path, name: '社員' } } };
  return {
    id,
    listed: { params: { path } },
    named,
    tag: (column: string, tag: string) => tagColumn(owner.client, id, '社員', column, tag),
    untag: (column: string, tag: string, client = owner.client) => untagColumn(client, id, '社員', column, tag),
    rule: (tag: string, effect: 'mask' | 'deny' | 'allow', role?: string) => setPolicy(owner.client, id, tag, effect, role),
    /** What somebody reads of the row. */
    read: async (client: ApiClient) => {
      const page = ok(await client.GET(`${base}/tables/{name}/rows`, named));
      if (typeof page === 'string') throw new Error('not JSON');
      const { __svc_row_id: _, ...row } = page.rows[0] as Record<string, unknown>;
      return { row, masked: page.masked_columns };
    },
    access: async (client: ApiClient, query: { role?: string[]; user_id?: string } = {}) =>
      ok(await client.GET(`${base}/tables/{name}/access`, { params: { ...named.params, query } })),
    classifications: async (client: ApiClient) =>
      ok(await client.GET(`${base}/classifications`, { params: { path } })).classifications.map(({ column, tag }) => `${column} ${tag}`),
    governed: async () => ok(await owner.client.GET(base, { params: { path } })).governed,
  };
}

const all = { 名前: '佐藤', 給与: 500, 住所: '東京' };

describe('tags and rules', () => {
  it('a role that is taken away takes with it the stored answers to requests that may be repeated', async () => {
    const book = await makeBook();
    await book.tag('給与', 'hr');
    await book.rule('hr', 'mask');
    await book.rule('hr', 'allow', 'payroll');
    await giveRoles(editor, ['payroll']);
    const write = () =>
      editor.client.PUT(`${base}/tables/{name}/range`, {
        params: { ...book.named.params, header: { 'Idempotency-Key': `range of ${book.id}` } },
        body: { range: 'A2:B2', values: [['鈴木', null]], expected_version: null },
      });
    expect(ok(await write()).values).toEqual([['鈴木', 500]]);
    expect(ok(await write()).values).toEqual([['鈴木', 500]]);
    await giveRoles(editor, []);
    expect(JSON.stringify(refused(await write(), 422, 'idempotency-mismatch'))).not.toContain('500');
  });

  it('mask and deny for everybody, admins included, from the next request on', async () => {
    const book = await makeBook();
    expect(await book.tag('給与', 'hr')).toEqual({ name: '社員', column: '給与', tags: ['hr'], reached: [] });
    expect(await book.read(viewer.client)).toEqual({ row: all, masked: [] });
    expect(await book.governed()).toBe(false);
    expect(await book.rule('hr', 'mask')).toMatchObject({ tag: 'hr', role: '*', effect: 'mask' });
    expect(await book.governed()).toBe(true);
    const masked = { row: { ...all, 給与: null }, masked: ['給与'] };
    for (const { client } of [owner, editor, viewer]) expect(await book.read(client)).toEqual(masked);
    await book.rule('hr', 'deny');
    for (const { client } of [owner, editor, viewer])
      expect(await book.read(client)).toEqual({ row: { 名前: '佐藤', 住所: '東京' }, masked: [] });
    ok(await owner.client.DELETE(`${base}/policies/{tag}`, { params: { path: { workbook_id: book.id, tag: 'hr' } } }));
    expect(await book.read(viewer.client)).toEqual({ row: all, masked: [] });
    expect(await book.governed()).toBe(false);
    // The tag stayed.
    expect(await book.classifications(viewer.client)).toEqual(['給与 hr']);
  });

  it('hold for the next request on every process', async () => {
    const book = await makeBook();
    const other = await api.another();
    const elsewhere = other.as(viewer.session);
    await book.tag('給与', 'hr');
    for (const effect of ['mask', 'deny', 'allow', 'deny'] as const) {
      await book.rule('hr', effect);
      const { row } = await book.read(elsewhere);
      expect(row).toEqual(effect === 'allow' ? all : effect === 'mask' ? { ...all, 給与: null } : { 名前: '佐藤', 住所: '東京' });
    }
    ok(await book.untag('給与', 'hr'));
    expect((await book.read(elsewhere)).row).toEqual(all);
    await other.stop();
  });

  it('are decided by roles, base and custom ones, as they are now', async () => {
    const book = await makeBook();
    await book.tag('給与', 'hr');
    await book.rule('hr', 'deny');
    await book.rule('hr', 'allow', '人事');
    await book.rule('hr', 'mask', 'editor');
    const seen = async ({ client }: Person) => (await book.read(client)).row.給与;
    expect([await seen(owner), await seen(editor), await seen(viewer)]).toEqual([undefined, null, undefined]);
    await giveRoles(viewer, ['人事']);
    await giveRoles(editor, ['人事']);
    // The strictest of two roles wins.
    expect([await seen(owner), await seen(editor), await seen(viewer)]).toEqual([undefined, null, 500]);
    ok(
      await owner.client.DELETE(`${base}/policies/{tag}`, {
        params: { path: { workbook_id: book.id, tag: 'hr' }, query: { role: 'editor' } },
      }),
    );
    expect([await seen(editor), await seen(viewer)]).toEqual([500, 500]);
    await giveRoles(viewer, []);
    await giveRoles(editor, []);
    expect([await seen(editor), await seen(viewer)]).toEqual([undefined, undefined]);
    // A key acts as the account's owner, and so does a token of theirs.
    const [key, token] = [api.as((await mintKey(owner.client)).text), api.as((await mintToken(owner.client)).text)];
    for (const [roles, salary] of [[['人事'], 500] as const, [[], undefined] as const]) {
      await giveRoles(owner, [...roles]);
      for (const client of [key, token]) expect((await book.read(client)).row.給与).toBe(salary);
    }
  });

  it('take the strictest of several tags', async () => {
    const book = await makeBook();
    await book.tag('給与', 'hr');
    expect((await book.tag('給与', 'money')).tags).toEqual(['hr', 'money']);
    await book.rule('hr', 'allow');
    await book.rule('money', 'mask');
    expect((await book.read(viewer.client)).row.給与).toBeNull();
    ok(await book.untag('給与', 'money'));
    expect((await book.read(viewer.client)).row.給与).toBe(500);
    refused(await book.untag('給与', 'money'), 404, 'not-found');
  });

  it('are listed by tag and role, page by page', async () => {
    const book = await makeBook();
    for (const [tag, role] of [['b', 'x'] as const, ['a', '*'] as const, ['b', '*'] as const]) await book.rule(tag, 'mask', role);
    const read = async (cursor?: string) =>
      ok(
        await viewer.client.GET(`${base}/policies`, {
          params: { path: { workbook_id: book.id }, query: { limit: 2, ...(cursor ? { cursor } : {}) } },
        }),
      );
    const first = await read();
    const second = await read(first.next_cursor ?? '');
    expect([...first.policies, ...second.policies].map(({ tag, role }) => `${tag} ${role}`)).toEqual(['a *', 'b *', 'b x']);
    expect(second.next_cursor).toBeNull();
  });
});

describe('a dry run', () => {
  it('names for each column the effect, the tags and the rule that decided', async () => {
    const book = await makeBook();
    await book.tag('給与', 'hr');
    await book.tag('住所', 'pii');
    await book.rule('hr', 'deny');
    await book.rule('hr', 'allow', '人事');
    await book.rule('pii', 'mask');
    const hr = (role: string, effect: string) => ({ tag: 'hr', role, effect });
    const shown = [
      { column: '名前', effect: 'visible', tags: [], rule: null },
      { column: '給与', effect: 'deny', tags: ['hr'], rule: hr('*', 'deny') },
      { column: '住所', effect: 'mask', tags: ['pii'], rule: { tag: 'pii', role: '*', effect: 'mask' } },
    ];
    expect(await book.access(editor.client)).toEqual({ name: '社員', roles: ['editor'], user_id: null, columns: shown, denied_count: 1 });
    const exempt = await book.access(editor.client, { role: ['viewer', '人事'] });
    expect(exempt.columns[1]).toEqual({ ...shown[1], effect: 'visible', rule: hr('人事', 'allow') });
    expect(exempt).toMatchObject({ roles: ['viewer', '人事'], denied_count: 0 });
    expect(await book.access(editor.client, { user_id: viewer.userId })).toMatchObject({
      roles: ['viewer'],
      user_id: viewer.userId,
      columns: shown,
    });
    const ask = (query: { role?: string[]; user_id?: string }) =>
      owner.client.GET(`${base}/tables/{name}/access`, { params: { ...book.named.params, query } });
    refused(await ask({ role: ['x'], user_id: viewer.userId }), 422, 'validation-failed');
    refused(await ask({ user_id: 'usr_00000000000000000000000000' }), 404, 'not-found');
  });

  it('names denied columns to those alone who may set policies', async () => {
    const book = await makeBook();
    await book.tag('給与', 'hr');
    await book.tag('住所', 'pii');
    await book.rule('hr', 'deny');
    const token = await mintToken(owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
    // A viewer's session has the scope, but not the role.
    for (const client of [viewer.client, api.as(token.text)]) {
      const access = await book.access(client, { role: ['x'] });
      expect([access.columns.map(({ column }) => column), access.denied_count]).toEqual([['名前', '住所'], 1]);
      expect(await book.classifications(client)).toEqual(['住所 pii']);
    }
    for (const { client } of [owner, editor]) {
      expect((await book.access(client)).columns.map(({ column }) => column)).toEqual(['名前', '給与', '住所']);
      expect(await book.classifications(client)).toEqual(['給与 hr', '住所 pii']);
    }
  });
});

describe('setting tags and policies', () => {
  it('needs the scope and the role', async () => {
    const book = await makeBook();
    await book.tag('給与', 'hr');
    await book.rule('hr', 'deny');
    const token = api.as((await mintToken(owner.client, { scopes: ['workbooks:write', 'workbooks:delete'] })).text);
    const path = { workbook_id: book.id, tag: 'hr' };
    for (const [client, slug] of [[token, 'missing-scope'] as const, [viewer.client, 'insufficient-role'] as const]) {
      const params = { path: { workbook_id: book.id, name: '社員', column: '給与' } };
      refused(await client.POST(`${base}/artifacts/{name}/columns/{column}/tags`, { params, body: { tag: 'x' } }), 403, slug);
      refused(await book.untag('給与', 'hr', client), 403, slug);
      refused(await client.PUT(`${base}/policies/{tag}`, { params: { path }, body: { effect: 'allow', role: '*' } }), 403, slug);
      refused(await client.DELETE(`${base}/policies/{tag}`, { params: { path } }), 403, slug);
    }
    expect((await book.read(viewer.client)).row.給与).toBeUndefined();
  });

  it.each<[string, string, string, unknown, number]>([
    ['an empty tag', 'POST', 'artifacts/社員/columns/給与/tags', { tag: '' }, 422],
    ['a long tag', 'POST', 'artifacts/社員/columns/給与/tags', { tag: 'x'.repeat(61) }, 422],
    ['a blank tag', 'POST', 'artifacts/社員/columns/給与/tags', { tag: '  ' }, 422],
    ['an unseen character', 'POST', 'artifacts/社員/columns/給与/tags', { tag: 'a\u200bb' }, 422],
    ['dots', 'POST', 'artifacts/社員/columns/給与/tags', { tag: '..' }, 422],
    ['a column that is not there', 'POST', 'artifacts/社員/columns/給料/tags', { tag: 'hr' }, 404],
    ['a table that is not there', 'POST', 'artifacts/社長/columns/給与/tags', { tag: 'hr' }, 404],
    ['the row id', 'POST', 'artifacts/社員/columns/__svc_row_id/tags', { tag: 'hr' }, 404],
    ['an unknown member', 'POST', 'artifacts/社員/columns/給与/tags', { tag: 'hr', role: 'x' }, 422],
    ['no effect', 'PUT', 'policies/hr', {}, 422],
    ['an unknown effect', 'PUT', 'policies/hr', { effect: 'hide' }, 422],
    ['an empty role', 'PUT', 'policies/hr', { effect: 'mask', role: '' }, 422],
    ['a blank role', 'PUT', 'policies/hr', { effect: 'mask', role: ' viewer' }, 422],
    ['a long role', 'PUT', 'policies/hr', { effect: 'mask', role: 'x'.repeat(61) }, 422],
    ['a rule that is not there', 'DELETE', 'policies/hr', undefined, 404],
    ['a role without a rule', 'DELETE', 'policies/hr?role=x', undefined, 404],
    ['a tag that is not there', 'DELETE', 'artifacts/社員/columns/給与/tags/hr', undefined, 404],
  ])('is refused with %s, and nothing changes', async (_, method, path, body, status) => {
    shared ??= await makeBook();
    const answer = await api.fetch(`/api/v1/workbooks/${shared.id}/${encodeURI(path)}`, {
      method,
      token: owner.session,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    expect([answer.status, ((await answer.json()) as { suggested_fix: string }).suggested_fix]).toEqual([status, expect.any(String)]);
    expect(await shared.classifications(owner.client)).toEqual([]);
    expect(await shared.governed()).toBe(false);
  });
  let shared: Awaited<ReturnType<typeof makeBook>> | undefined;

  it('leaves the names of columns out of the audit log', async () => {
    const book = await makeBook();
    await book.tag('給与', 'hr');
    await book.rule('hr', 'deny');
    ok(await book.untag('給与', 'hr'));
    ok(await owner.client.DELETE(`${base}/policies/{tag}`, { params: { path: { workbook_id: book.id, tag: 'hr' } } }));
    const { entries } = ok(await viewer.client.GET(`${base}/audit-log`, book.listed));
    expect(entries.slice(0, 4).map(({ action }) => action)).toEqual(['policy.delete', 'column.untag', 'policy.set', 'column.tag']);
    expect(JSON.stringify(entries)).not.toContain('給与');
  });
});
