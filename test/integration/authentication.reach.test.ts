import { afterAll, describe, expect, it } from 'vitest';
import { unknownId } from '../contract/world.ts';
import { type ApiClient, ok, refused } from '../setup/api.ts';
import { makeAccount, makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { all, startReach, workbook, workspace } from './reach.ts';

/** Rules 6 and 7 of "Authentication" in the specification: how far a credential reaches. */

const { api, alice, bob, home, team, other, inTeam, alsoInTeam, inOther, bobs, bobsWorkspace, tokenFor } = await startReach();
afterAll(() => api.stop());

describe('rule 6: the resource sets the reach', () => {
  /** Every kind of operation on one workbook. */
  const onWorkbook: Record<string, (client: ApiClient, id: string) => Promise<{ error?: unknown; response: Response }>> = {
    get: (client, id) => client.GET('/api/v1/workbooks/{workbook_id}', workbook(id)),
    patch: (client, id) => client.PATCH('/api/v1/workbooks/{workbook_id}', { ...workbook(id), body: { title: 'Still the same' } }),
    audit: (client, id) => client.GET('/api/v1/workbooks/{workbook_id}/audit-log', workbook(id)),
  };

  it.each<[string, () => string, Record<string, number>]>([
    ['account', () => 'account', { inTeam: 200, alsoInTeam: 200, inOther: 200 }],
    ['its workspace', () => `workspace:${team}`, { inTeam: 200, alsoInTeam: 200, inOther: 403 }],
    ['itself', () => `workbook:${inTeam}`, { inTeam: 200, alsoInTeam: 403, inOther: 403 }],
  ])('a token for %s reaches what it names, on reading, writing and the log alike', async (_, resource, expected) => {
    const client = await tokenFor(resource());
    for (const [what, ask] of Object.entries(onWorkbook)) {
      const got = {
        inTeam: (await ask(client, inTeam)).response.status,
        alsoInTeam: (await ask(client, alsoInTeam)).response.status,
        inOther: (await ask(client, inOther)).response.status,
      };
      expect([what, got]).toEqual([what, expected]);
      // Outside of the account there is nothing, however far a credential reaches.
      refused(await ask(client, bobs), 404, 'not-found');
      refused(await ask(client, unknownId('wb')), 404, 'not-found');
    }
  });

  it('says what is missing', async () => {
    const client = await tokenFor(`workspace:${team}`);
    const problem = refused(await client.GET('/api/v1/workbooks/{workbook_id}', workbook(inOther)), 403, 'outside-reach');
    expect(problem.detail).toContain(`workspace:${team}`);
  });

  it('asks for the scope before anything else, so that it tells nobody what exists', async () => {
    const weak = api.as((await mintToken(alice.client, { scopes: ['workbooks:read'], resource: `workspace:${team}` })).text);
    for (const id of [inTeam, inOther, bobs, unknownId('wb')])
      refused(await weak.DELETE('/api/v1/workbooks/{workbook_id}', workbook(id)), 403, 'missing-scope');
  });

  it('deleting is within reach or not, too', async () => {
    const goner = await makeWorkbook(alice.client, 'Goner', team);
    const outside = await tokenFor(`workspace:${other}`);
    refused(await outside.DELETE('/api/v1/workbooks/{workbook_id}', workbook(goner)), 403, 'outside-reach');
    const inside = await tokenFor(`workbook:${goner}`);
    expect((await inside.DELETE('/api/v1/workbooks/{workbook_id}', workbook(goner))).response.status).toBe(204);
    // What is gone is gone for its own token as well.
    refused(await inside.GET('/api/v1/workbooks/{workbook_id}', workbook(goner)), 404, 'not-found');
  });

  it('lists what is within reach and nothing else', async () => {
    const listed = async (resource: string) => {
      const client = await tokenFor(resource);
      const both = [ok(await client.GET('/api/v1/workbooks')), ok(await client.GET('/api/v1/me/workbooks'))];
      expect(both[0]).toEqual(both[1]);
      return both[0]?.workbooks.map(({ id }) => id);
    };
    expect(await listed(`workbook:${inTeam}`)).toEqual([inTeam]);
    expect(await listed(`workspace:${team}`)).toEqual([alsoInTeam, inTeam]);
    expect(await listed('account')).toEqual(expect.arrayContaining([inTeam, alsoInTeam, inOther]));
    expect(await listed('account')).not.toContain(bobs);
  });

  it.each(['listing', 'listing one’s own', 'creation'])('a workspace_id outside of it is 403 for %s', async (what) => {
    const ask = async (client: ApiClient, workspace_id: string): Promise<{ error?: unknown; response: Response }> => {
      if (what === 'listing') return client.GET('/api/v1/workbooks', { params: { query: { workspace_id } } });
      if (what === 'creation') return client.POST('/api/v1/workbooks', { body: { title: 'x', workspace_id } });
      return client.GET('/api/v1/me/workbooks', { params: { query: { workspace_id } } });
    };
    const pinned = await tokenFor(`workspace:${team}`);
    const single = await tokenFor(`workbook:${inTeam}`);
    for (const id of [other, bobsWorkspace, unknownId('ws'), 'nonsense', 'personal']) refused(await ask(pinned, id), 403, 'outside-reach');
    for (const id of [team, other]) refused(await ask(single, id), 403, 'outside-reach');
    for (const client of [alice.client, await tokenFor('account')])
      for (const id of [bobsWorkspace, unknownId('ws'), 'nonsense']) refused(await ask(client, id), 403, 'outside-reach');
    expect((await ask(pinned, team)).response.status).toBeLessThan(300);
    expect((await ask(await tokenFor('account'), 'personal')).response.status).toBeLessThan(300);
  });

  it('creations of a workspace’s token land there; a workbook’s token creates nothing', async () => {
    const made = ok(await (await tokenFor(`workspace:${other}`)).POST('/api/v1/workbooks', { body: { title: 'Landed' } }));
    expect(made.workspace_id).toBe(other);
    const single = await tokenFor(`workbook:${inTeam}`);
    refused(await single.POST('/api/v1/workbooks', { body: { title: 'Nowhere' } }), 403, 'outside-reach');
  });

  it('shows the workspaces within reach, and which of them creations land in', async () => {
    const listed = async (resource: string) =>
      ok(await (await tokenFor(resource)).GET('/api/v1/me/workspaces')).workspaces.map(({ id, is_default }) => [id, is_default]);
    expect(await listed('account')).toEqual([
      [home, true],
      [team, false],
      [other, false],
    ]);
    expect(await listed(`workspace:${team}`)).toEqual([[team, true]]);
    expect(await listed(`workbook:${inTeam}`)).toEqual([]);
  });

  it('a pinned key reaches its workspace alone on the control plane', async () => {
    const key = api.as((await mintKey(alice.client, { scopes: all, workspace_id: team })).text);
    expect(ok(await key.GET('/api/control/workspaces/{workspace_id}', workspace(team))).id).toBe(team);
    expect(ok(await key.GET('/api/control/workspaces')).workspaces.map(({ id }) => id)).toEqual([team]);
    expect(ok(await key.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(team), body: { name: 'Team' } })).name).toBe('Team');

    const attempts = {
      get: await key.GET('/api/control/workspaces/{workspace_id}', workspace(other)),
      patch: await key.PATCH('/api/control/workspaces/{workspace_id}', { ...workspace(other), body: { name: 'Mine' } }),
      delete: await key.DELETE('/api/control/workspaces/{workspace_id}', workspace(other)),
      users: await key.GET('/api/control/workspaces/{workspace_id}/users', workspace(other)),
      add: await key.POST('/api/control/workspaces/{workspace_id}/users', {
        ...workspace(other),
        body: { email: bob.email, role: 'admin' },
      }),
      workbooks: await key.GET('/api/control/workspaces/{workspace_id}/workbooks', workspace(other)),
      account: await key.GET('/api/control/account'),
      accounts: await key.GET('/api/control/accounts'),
      provision: await key.POST('/api/control/workspaces', { body: { name: 'x' } }),
    };
    for (const attempt of Object.values(attempts)) refused(attempt, 403, 'outside-reach');
    refused(await key.GET('/api/control/workspaces/{workspace_id}', workspace(bobsWorkspace)), 404, 'not-found');
    refused(await key.GET('/api/control/workspaces/{workspace_id}', workspace(unknownId('ws'))), 404, 'not-found');
    expect(ok(await alice.client.GET('/api/control/workspaces/{workspace_id}', workspace(other))).name).toBe('Other');
  });

  it.each(['planet', 'workspace:', 'workbook', 'workspace', 'Account', 'workspace:a b:c'])(
    'the resource "%s" is refused',
    async (resource) => {
      const answer = await alice.client.POST('/api/v1/me/tokens', { body: { name: 'x', resource } });
      expect([answer.response.status]).toEqual([resource.startsWith('workspace:a') ? 403 : 422]);
    },
  );

  it.each([
    ['an unknown workspace', () => `workspace:${unknownId('ws')}`],
    ['somebody else’s workspace', () => `workspace:${bobsWorkspace}`],
    ['an unknown workbook', () => `workbook:${unknownId('wb')}`],
    ['somebody else’s workbook', () => `workbook:${bobs}`],
    ['nonsense', () => 'workbook:nonsense'],
  ])('a resource that names %s is 403', async (_, resource) => {
    refused(await alice.client.POST('/api/v1/me/tokens', { body: { name: 'x', resource: resource() } }), 403, 'outside-reach');
  });
});

describe('rule 7: a creation that names no workspace lands in the oldest of the account', () => {
  it('by session, token and key', async () => {
    const clients = [alice.client, await tokenFor('account'), api.as((await mintKey(alice.client, { scopes: ['workbooks:write'] })).text)];
    for (const client of clients) {
      expect(ok(await client.POST('/api/v1/workbooks', { body: { title: 'Anywhere' } })).workspace_id).toBe(home);
      expect(ok(await client.POST('/api/v1/workbooks', { body: { title: 'Anywhere', workspace_id: null } })).workspace_id).toBe(home);
    }
  });

  it('of the token’s account, not of the user’s; with none there it is 409', async () => {
    const account = await makeAccount(alice.client, 'Fresh');
    const token = api.as((await mintToken(alice.client, { account_id: account, scopes: ['workbooks:write'] })).text);
    refused(await token.POST('/api/v1/workbooks', { body: { title: 'x' } }), 409, 'no-workspace');
    expect(ok(await token.GET('/api/v1/me'))).toMatchObject({ workspace_id: null, workspace_name: null });
    expect(ok(await token.GET('/api/v1/me/workspaces')).workspaces).toEqual([]);

    const first = await makeWorkspace(alice.client, 'First', account);
    const second = await makeWorkspace(alice.client, 'Second', account);
    expect(ok(await token.POST('/api/v1/workbooks', { body: { title: 'x', workspace_id: second } })).workspace_id).toBe(second);
    const made = ok(await token.POST('/api/v1/workbooks', { body: { title: 'x' } }));
    expect(made.workspace_id).toBe(first);
    expect(ok(await token.GET('/api/v1/me')).workspace_id).toBe(first);

    // When the oldest goes, the next one is the oldest.
    ok(await alice.client.DELETE('/api/v1/workbooks/{workbook_id}', workbook(made.id)));
    ok(await alice.client.DELETE('/api/control/workspaces/{workspace_id}', workspace(first)));
    expect(ok(await token.POST('/api/v1/workbooks', { body: { title: 'x' } })).workspace_id).toBe(second);
    refused(await token.POST('/api/v1/workbooks', { body: { title: 'x', workspace_id: first } }), 403, 'outside-reach');
  });
});
