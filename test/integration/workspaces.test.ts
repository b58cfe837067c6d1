import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unknownId } from '../contract/world.ts';
import { type ApiClient, ok, type Person, refused } from '../setup/api.ts';
import { makeAccount, makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { member, startTeam, workbook, workspace } from './team.ts';

/** Accounts, workspaces and members: who sees what, who may do what. Paging and jobs have their own files. */

const { api, owner, admin, editor, viewer, outsider, team, join } = await startTeam();
afterAll(() => api.stop());

describe('createAccount and listAccounts', () => {
  it('begin as one default account; developer accounts come after it, by age, and without a workspace', async () => {
    const person = await api.signUp('Dev');
    const made = [await makeAccount(person.client, 'First'), await makeAccount(person.client, 'Second')];
    const { accounts } = ok(await person.client.GET('/api/control/accounts'));
    expect(accounts.map(({ kind, name }) => [kind, name])).toEqual([
      ['default', 'Dev'],
      ['developer', 'First'],
      ['developer', 'Second'],
    ]);
    expect(ok(await person.client.GET('/api/control/account')).id).toBe(accounts[0]?.id);
    const query = { account_id: made[0] };
    expect(ok(await person.client.GET('/api/control/account', { params: { query } }))).toMatchObject({ name: 'First', plan: 'free' });
    expect(ok(await person.client.GET('/api/control/workspaces', { params: { query } })).workspaces).toEqual([]);
  });

  it.each([[''], ['x'.repeat(121)], [5], [null]])('are not made with the name %j', async (name) => {
    refused(await owner.client.POST('/api/control/accounts', { body: { name } as never }), 422, 'validation-failed');
  });

  it('take names of 120 characters, in any script', async () => {
    const name = '経'.repeat(120);
    expect(ok(await outsider.client.POST('/api/control/accounts', { body: { name } })).name).toBe(name);
  });
});

describe('createWorkspace, configureWorkspace and deleteWorkspace: a workspace', () => {
  it('is made, read, configured and deleted', async () => {
    const answer = await owner.client.POST('/api/control/workspaces', { body: { name: 'Own', residency: 'jp' } });
    const made = ok(answer);
    expect(made).toMatchObject({
      name: 'Own',
      kind: 'managed',
      is_default: false,
      residency: 'jp',
      preprocess_rules: null,
      idp_config: null,
    });
    expect(answer.response.headers.get('location')).toBe(`/api/control/workspaces/${made.id}`);
    const config = {
      name: 'Renamed',
      preprocess_rules: '数字は半角に',
      idp_config: { issuer: 'https://idp.example', nested: { a: [1, null] } },
    };
    const changed = ok(await owner.client.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(made.id), body: config }));
    expect(changed).toMatchObject({ ...config, residency: 'jp' });
    expect(ok(await owner.client.GET('/api/control/workspaces/{workspace_id}', workspace(made.id)))).toEqual(changed);
    const cleared = ok(
      await owner.client.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(made.id), body: { idp_config: null, name: null } }),
    );
    expect(cleared).toMatchObject({ name: 'Renamed', idp_config: null, preprocess_rules: '数字は半角に' });
    const nothing = ok(await owner.client.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(made.id), body: {} }));
    expect(nothing).toEqual(cleared);
    expect((await owner.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(made.id))).response.status).toBe(204);
    refused(await owner.client.GET('/api/control/workspaces/{workspace_id}', workspace(made.id)), 404, 'not-found');
    refused(await owner.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(made.id)), 404, 'not-found');
  });

  it('is not written down as changed by what changes nothing', async () => {
    const id = await makeWorkspace(owner.client, 'Still');
    await join(id, editor, 'editor');
    const setRoles = (roles: string[]) =>
      owner.client.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', { ...member(id, editor.userId), body: { roles } });
    const body = { name: 'Still here', preprocess_rules: '半角', idp_config: { b: { c: [1] }, a: null } };
    const changes = async () => {
      ok(await owner.client.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(id), body }));
      ok(await setRoles(['経理']));
      await join(id, editor, 'viewer');
    };
    await changes();
    const readAudit = async () =>
      (
        await api.sql.query('SELECT action FROM audit_entries WHERE target = $1 OR detail::jsonb ->> $2 = $1 ORDER BY seq', [
          id,
          'workspace',
        ])
      ).rows;
    const written = await readAudit();
    expect(written.map(({ action }) => action)).toEqual([
      'workspace.created',
      'member.added',
      'workspace.configured',
      'member.roles_set',
      'member.role_changed',
    ]);
    await changes();
    expect(await readAudit()).toEqual(written);
    ok(await owner.client.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(id), body: { ...body, residency: 'jp' } }));
    const { rows } = await api.sql.query(
      "SELECT detail FROM audit_entries WHERE target = $1 AND action = 'workspace.configured' ORDER BY seq",
      [id],
    );
    expect(rows.at(-1)).toMatchObject({ detail: { fields: ['residency'] } });
  });

  it('stays while workbooks are in it, and if it is the personal one', async () => {
    const id = await makeWorkspace(owner.client, 'Full');
    const inside = await makeWorkbook(owner.client, 'Inside', id);
    refused(await owner.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(id)), 409, 'in-use');
    ok(await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', workbook(inside)));
    expect((await owner.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(id))).response.status).toBe(204);
    const home = ok(await owner.client.GET('/api/v1/me')).workspace_id ?? '';
    refused(await owner.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(home)), 409, 'in-use');
  });

  it('takes the keys and tokens that are pinned to it along', async () => {
    const id = await makeWorkspace(owner.client, 'With keys');
    const key = await mintKey(owner.client, { workspace_id: id });
    const token = await mintToken(owner.client, { resource: `workspace:${id}` });
    const wide = await mintKey(owner.client);
    ok(await owner.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(id)));
    for (const { text } of [key, token]) refused(await api.as(text).GET('/api/v1/me'), 401, 'unauthenticated');
    expect((await api.as(wide.text).GET('/api/v1/me')).response.status).toBe(200);
  });

  it('is never deleted under a workbook that is being made in it', async () => {
    for (let round = 0; round < 8; round++) {
      const id = await makeWorkspace(owner.client, 'Contested');
      const [made, deleted] = await Promise.all([
        owner.client.POST('/api/v1/workbooks', { body: { title: 'In time?', workspace_id: id } }),
        owner.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(id)),
      ]);
      const outcome = [made.response.status, deleted.response.status];
      expect([
        [201, 409],
        [403, 204],
      ]).toContainEqual(outcome);
    }
    const { rowCount } = await api.sql.query(
      'SELECT 1 FROM workbooks b JOIN workspaces w ON w.id = b.workspace_id WHERE w.deleted_at IS NOT NULL AND b.deleted_at IS NULL',
    );
    expect(rowCount).toBe(0);
  });
});

describe('addWorkspaceUser and removeWorkspaceUser: members', () => {
  it('are added, change their role, and are removed; each holds from the next request on', async () => {
    const id = await makeWorkspace(owner.client, 'Changing');
    const shared = await makeWorkbook(owner.client, 'Shared', id);
    const rename = () => outsider.client.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(shared), body: { title: 'Renamed' } });
    const put = (role: 'viewer' | 'editor') =>
      owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
        ...workspace(id),
        body: { email: outsider.email.toUpperCase(), role },
      });

    refused(await rename(), 404, 'not-found');
    const added = await put('viewer');
    expect([added.response.status, ok(added)]).toEqual([
      201,
      expect.objectContaining({ role: 'viewer', is_owner: false, effective_roles: ['viewer'] }),
    ]);
    refused(await rename(), 403, 'insufficient-role');
    expect((await put('editor')).response.status).toBe(200);
    expect((await rename()).response.status).toBe(200);
    const listed = ok(await owner.client.GET('/api/control/workspaces/{workspace_id}/users', workspace(id))).users;
    expect(listed.map(({ user, role, is_owner }) => [user.email, role, is_owner]).sort()).toEqual(
      [
        [owner.email, 'admin', true],
        [outsider.email, 'editor', false],
      ].sort(),
    );
    expect(
      (await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(id, outsider.userId))).response.status,
    ).toBe(204);
    refused(await rename(), 404, 'not-found');
    refused(
      await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(id, outsider.userId)),
      404,
      'not-found',
    );
  });

  it('must exist, and the owner stays', async () => {
    const add = (body: { email: string; role: 'viewer' }) =>
      owner.client.POST('/api/control/workspaces/{workspace_id}/users', { ...workspace(team), body });
    refused(await add({ email: 'nobody@example.com', role: 'viewer' }), 404, 'not-found');
    refused(await add({ email: owner.email, role: 'viewer' }), 409, 'in-use');
    refused(await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(team, owner.userId)), 409, 'in-use');
    refused(await admin.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(team, owner.userId)), 409, 'in-use');
    refused(
      await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(team, unknownId('usr'))),
      404,
      'not-found',
    );
  });

  it('have custom roles, replaced as a whole, never a built-in name', async () => {
    const set = (roles: string[]) =>
      owner.client.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', { ...member(team, viewer.userId), body: { roles } });
    expect(ok(await set(['経理', 'audit', '経理']))).toMatchObject({
      role: 'viewer',
      roles: ['経理', 'audit'],
      effective_roles: ['viewer', '経理', 'audit'],
    });
    expect(ok(await set(['hr'])).roles).toEqual(['hr']);
    for (const name of ['admin', 'Editor', 'VIEWER', 'owner', '*'])
      expect(refused(await set(['fine', name]), 422, 'validation-failed').errors).toMatchObject([{ pointer: '/roles/1' }]);
    expect(ok(await set([])).roles).toEqual([]);
    refused(
      await owner.client.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', {
        ...member(team, outsider.userId),
        body: { roles: [] },
      }),
      404,
      'not-found',
    );
  });
});

describe('setUserRoles: a role', () => {
  type Ask = (client: ApiClient) => Promise<{ error?: unknown; response: Response }>;
  let shared: string;
  beforeAll(async () => {
    shared = await makeWorkbook(owner.client, 'Shared', team);
  });

  const newMember = async () => (await api.signUp()).email;
  const operations: [string, Ask, Record<'viewer' | 'editor' | 'admin', number | string>][] = [
    ['getWorkbook', (c) => c.GET('/api/v1/workbooks/{workbook_id}', workbook(shared)), { viewer: 200, editor: 200, admin: 200 }],
    ['listAuditLog', (c) => c.GET('/api/v1/workbooks/{workbook_id}/audit-log', workbook(shared)), { viewer: 200, editor: 200, admin: 200 }],
    [
      'updateWorkbook, title',
      (c) => c.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(shared), body: { title: 'Shared' } }),
      { viewer: 'insufficient-role', editor: 200, admin: 200 },
    ],
    [
      'updateWorkbook, visibility',
      (c) => c.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(shared), body: { visibility: 'private' } }),
      { viewer: 'insufficient-role', editor: 'not-owner', admin: 'not-owner' },
    ],
    [
      'deleteWorkbook',
      (c) => c.DELETE('/api/v1/workbooks/{workbook_id}', workbook(shared)),
      { viewer: 'not-owner', editor: 'not-owner', admin: 'not-owner' },
    ],
    [
      'createWorkbook',
      (c) => c.POST('/api/v1/workbooks', { body: { title: 'Made', workspace_id: team } }),
      { viewer: 'insufficient-role', editor: 201, admin: 201 },
    ],
    ['getWorkspace', (c) => c.GET('/api/control/workspaces/{workspace_id}', workspace(team)), { viewer: 200, editor: 200, admin: 200 }],
    [
      'listWorkspaceUsers',
      (c) => c.GET('/api/control/workspaces/{workspace_id}/users', workspace(team)),
      { viewer: 200, editor: 200, admin: 200 },
    ],
    [
      'listWorkspaceWorkbooks',
      (c) => c.GET('/api/control/workspaces/{workspace_id}/workbooks', workspace(team)),
      { viewer: 200, editor: 200, admin: 200 },
    ],
    [
      'configureWorkspace',
      (c) => c.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(team), body: { name: 'Team' } }),
      { viewer: 'insufficient-role', editor: 'insufficient-role', admin: 200 },
    ],
    [
      'addWorkspaceUser',
      async (c) =>
        c.POST('/api/control/workspaces/{workspace_id}/users', { ...workspace(team), body: { email: await newMember(), role: 'viewer' } }),
      { viewer: 'insufficient-role', editor: 'insufficient-role', admin: 201 },
    ],
    [
      'setUserRoles',
      (c) =>
        c.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', { ...member(team, viewer.userId), body: { roles: ['x'] } }),
      { viewer: 'insufficient-role', editor: 'insufficient-role', admin: 200 },
    ],
    [
      'removeWorkspaceUser',
      (c) => c.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', member(team, owner.userId)),
      // Far enough to be told that the owner stays.
      { viewer: 'insufficient-role', editor: 'insufficient-role', admin: 'in-use' },
    ],
    [
      'deleteWorkspace',
      (c) => c.DELETE('/api/control/workspaces/{workspace_id}', workspace(team)),
      { viewer: 'insufficient-role', editor: 'insufficient-role', admin: 'insufficient-role' },
    ],
  ];

  it.each(operations)('decides about %s', async (_, ask, expected) => {
    const outcome = async (person: Person) => {
      const { response, error } = await ask(person.client);
      return error ? (error as { type: string }).type.replace('urn:svc:problem:', '') : response.status;
    };
    expect({ viewer: await outcome(viewer), editor: await outcome(editor), admin: await outcome(admin) }).toEqual(expected);
  });

  it('is none for somebody from outside: there is nothing', async () => {
    for (const [name, ask] of operations) {
      const { response } = await ask(outsider.client);
      // A workspace named in a body is a parameter: 403. What a path names is not there: 404.
      expect([name, response.status]).toEqual([name, name === 'createWorkbook' ? 403 : 404]);
    }
  });

  it('in somebody else’s workspace works through a session, not through one’s own tokens', async () => {
    const token = await mintToken(editor.client, { scopes: ['workbooks:write'] });
    refused(await api.as(token.text).GET('/api/v1/workbooks/{workbook_id}', workbook(shared)), 404, 'not-found');
    refused(await api.as(token.text).POST('/api/v1/workbooks', { body: { title: 'x', workspace_id: team } }), 403, 'outside-reach');
  });
});
