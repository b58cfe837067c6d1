import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopes } from '../../core/access/scopes.ts';
import { unknownId } from '../contract/world.ts';
import { type ApiClient, ok, type Person, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { type Minted, makeAccount, makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';

/** Rules 6, 7, 9, 10 and 11 of "Authentication" in the specification: how far a credential reaches, and what it may mint. */

let api: TestApi;
let alice: Person;
let bob: Person;
let home: string;
let team: string;
let other: string;
let inTeam: string;
let alsoInTeam: string;
let inOther: string;
let bobs: string;
let bobsWorkspace: string;

beforeAll(async () => {
  // The rates have their own tests; these here are many requests by few people.
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  [alice, bob] = [await api.signUp('Alice'), await api.signUp('Bob')];
  home = ok(await alice.client.GET('/api/v1/me')).workspace_id ?? '';
  [team, other] = [await makeWorkspace(alice.client, 'Team'), await makeWorkspace(alice.client, 'Other')];
  inTeam = await makeWorkbook(alice.client, 'In the team', team);
  alsoInTeam = await makeWorkbook(alice.client, 'Also in the team', team);
  inOther = await makeWorkbook(alice.client, 'In the other', other);
  bobs = await makeWorkbook(bob.client, 'Bob’s');
  bobsWorkspace = ok(await bob.client.GET('/api/v1/me')).workspace_id ?? '';
});
afterAll(() => api.stop());

const all = [...scopes];
const tokenFor = async (resource: string): Promise<ApiClient> => api.as((await mintToken(alice.client, { scopes: all, resource })).text);
const workbook = (id: string) => ({ params: { path: { workbook_id: id } } });
const workspace = (id: string) => ({ params: { path: { workspace_id: id } } });

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

describe('rule 9: nothing is minted beyond the issuer', () => {
  const mint = (client: ApiClient, body: Record<string, unknown>) =>
    client.POST('/api/control/account/keys', { body: { scopes: ['workbooks:read'], ...body } as never });
  const token = (client: ApiClient, body: Record<string, unknown>) =>
    client.POST('/api/v1/me/tokens', { body: { name: 'x', ...body } as never });

  it('not in scopes, by key or token; write includes read', async () => {
    const key = api.as((await mintKey(alice.client, { scopes: ['keys:mint', 'workbooks:write'] })).text);
    expect(refused(await mint(key, { scopes: ['workbooks:delete'] }), 403, 'missing-scope').missing_scope).toBe('workbooks:delete');
    refused(await mint(key, { scopes: ['workbooks:read', 'billing:manage'] }), 403, 'missing-scope');
    expect(ok(await mint(key, { scopes: ['workbooks:read', 'workbooks:write', 'keys:mint'] })).scopes).toHaveLength(3);
    refused(await token(key, { scopes: ['account:read'] }), 403, 'missing-scope');
    const reader = api.as((await mintToken(alice.client, { scopes: ['keys:mint', 'workbooks:read'] })).text);
    refused(await token(reader, { scopes: ['workbooks:write'] }), 403, 'missing-scope');
    expect(ok(await token(reader, {})).scopes).toEqual(['workbooks:read']);
    // Its default is reading: one that cannot read cannot give that either.
    const deleter = api.as((await mintToken(alice.client, { scopes: ['keys:mint', 'workbooks:delete'] })).text);
    refused(await token(deleter, {}), 403, 'missing-scope');
  });

  it('not in reach', async () => {
    const wide = api.as((await mintKey(alice.client, { scopes: all })).text);
    expect(ok(await mint(wide, { workspace_id: team })).resource).toBe(`workspace:${team}`);
    const pinned = api.as((await mintKey(alice.client, { scopes: all, workspace_id: team })).text);
    // What names nothing is pinned the same way, not let loose.
    expect(ok(await mint(pinned, {}))).toMatchObject({ resource: `workspace:${team}`, workspace_id: team });
    expect(ok(await token(pinned, {})).resource).toBe(`workspace:${team}`);
    refused(await mint(pinned, { workspace_id: other }), 403, 'outside-reach');
    refused(await token(pinned, { resource: 'account' }), 403, 'outside-reach');
    refused(await token(pinned, { resource: `workspace:${other}` }), 403, 'outside-reach');
    refused(await token(pinned, { resource: `workbook:${inOther}` }), 403, 'outside-reach');
    expect(ok(await token(pinned, { resource: `workbook:${inTeam}` })).resource).toBe(`workbook:${inTeam}`);

    const single = await tokenFor(`workbook:${inTeam}`);
    expect(ok(await token(single, {})).resource).toBe(`workbook:${inTeam}`);
    for (const resource of ['account', `workspace:${team}`, `workbook:${alsoInTeam}`])
      refused(await token(single, { resource }), 403, 'outside-reach');
  });

  it('not in time', async () => {
    const issuer = await mintToken(alice.client, { scopes: ['keys:mint', 'workbooks:read'], expires_in_days: 2 });
    const minted = ok(await token(api.as(issuer.text), { expires_in_days: 365 }));
    const expected = ok(await api.as(issuer.text).GET('/api/v1/me')).credential.expires_at;
    expect(minted.expires_at).toBe(expected);
    const shorter = ok(await token(api.as(issuer.text), { expires_in_days: 1 }));
    expect(Date.parse(shorter.expires_at)).toBeLessThan(Date.parse(minted.expires_at));
  });

  it('and what was minted ends with its issuer, in every generation', async () => {
    const minting = { scopes: ['keys:mint' as const, 'workbooks:read' as const] };
    const alive = async (...minted: Minted[]) =>
      Promise.all(minted.map(async ({ text }) => (await api.as(text).GET('/api/v1/me')).response.status === 200));
    const makeLine = async () => {
      const key = await mintKey(alice.client, minting);
      const child = await mintToken(api.as(key.text), minting);
      return { key, child, grandchild: await mintToken(api.as(child.text)), sibling: await mintKey(api.as(key.text)) };
    };
    const revoked = await makeLine();
    expect(await alive(...Object.values(revoked))).toEqual([true, true, true, true]);
    ok(await alice.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: revoked.child.id } } }));
    expect(await alive(...Object.values(revoked))).toEqual([true, false, false, true]);
    ok(await alice.client.DELETE('/api/control/account/keys/{key_id}', { params: { path: { key_id: revoked.key.id } } }));
    expect(await alive(...Object.values(revoked))).toEqual([false, false, false, false]);
    refused(await api.as(revoked.grandchild.text).GET('/api/v1/me'), 401, 'unauthenticated');
    // The list and the journal say so, once each.
    const { rows } = await api.sql.query(
      `SELECT c.id, c.revoked_at IS NOT NULL AS revoked, count(e.target)::int AS entries FROM credentials c
       LEFT JOIN audit_entries e ON e.target = c.id AND e.action IN ('token.revoked', 'key.revoked')
       WHERE c.id = ANY ($1) GROUP BY c.id, c.revoked_at`,
      [Object.values(revoked).map(({ id }) => id)],
    );
    expect(rows.map((row) => [row.revoked, row.entries])).toEqual(Array(4).fill([true, 1]));

    const expired = await makeLine();
    await api.sql.query("UPDATE credentials SET expires_at = now() - interval '1 second' WHERE id = $1", [expired.child.id]);
    expect(await alive(...Object.values(expired))).toEqual([true, false, false, true]);
    refused(await api.as(expired.grandchild.text).GET('/api/v1/me'), 401, 'token-expired');
  });

  it('nor in endless rows', async () => {
    const minting = { scopes: ['keys:mint' as const, 'workbooks:read' as const] };
    let last = await mintToken(alice.client, minting);
    for (let i = 0; i < 8; i++) last = await mintToken(api.as(last.text), minting);
    refused(await token(api.as(last.text), {}), 403, 'outside-reach');
  });

  it('not in an account', async () => {
    const account = await makeAccount(alice.client, 'Sibling');
    const key = api.as((await mintKey(alice.client, { scopes: all })).text);
    refused(await mint(key, { account_id: account }), 404, 'not-found');
    refused(await token(key, { account_id: account }), 404, 'not-found');
    // Nor does a workspace of one account go with a key of another.
    const theirs = await makeWorkspace(alice.client, 'Sibling’s', account);
    refused(await mint(alice.client, { workspace_id: theirs }), 403, 'outside-reach');
    expect(ok(await mint(alice.client, { workspace_id: theirs, account_id: account })).account_id).toBe(account);
  });

  it('and the owner’s session mints anything', async () => {
    const made = ok(await mint(alice.client, { scopes: all, rate_limit_per_minute: 10_000, workspace_id: team }));
    expect(made).toMatchObject({ scopes: all, rate_limit_per_minute: 10_000, resource: `workspace:${team}` });
    refused(await mint(bob.client, { workspace_id: team }), 403, 'outside-reach');
  });

  it('a pinned key sees its workbooks on the data plane, that workspace alone on the control plane', async () => {
    const key = api.as((await mintKey(alice.client, { scopes: all, workspace_id: team })).text);
    const seen = ok(await key.GET('/api/v1/workbooks')).workbooks;
    expect(seen.map(({ id }) => id)).toEqual(expect.arrayContaining([alsoInTeam, inTeam]));
    expect(new Set(seen.map(({ workspace_id }) => workspace_id))).toEqual(new Set([team]));
    refused(await key.GET('/api/v1/workbooks/{workbook_id}', workbook(inOther)), 403, 'outside-reach');
    expect(ok(await key.GET('/api/control/workspaces')).workspaces.map(({ id }) => id)).toEqual([team]);
  });

  it('an answer to a stronger credential is not replayed to a weaker one', async () => {
    const header = { 'Idempotency-Key': 'mint-1' };
    const body = { name: 'strong', scopes: ['workbooks:write' as const] };
    const made = ok(await alice.client.POST('/api/v1/me/tokens', { params: { header }, body }));
    const weak = await mintToken(alice.client, { scopes: ['keys:mint', 'workbooks:read'], resource: `workbook:${inTeam}` });
    const stolen = await api.as(weak.text).POST('/api/v1/me/tokens', { params: { header }, body });
    expect(JSON.stringify(stolen.data ?? {})).not.toContain(made.token);
    refused(stolen, 403, 'missing-scope');
  });
});

describe('rule 10: who manages which keys', () => {
  let wide: Minted;
  let pinned: Minted;
  let samePin: Minted;
  let otherPin: Minted;
  const revoke = (client: ApiClient, id: string) =>
    client.DELETE('/api/control/account/keys/{key_id}', { params: { path: { key_id: id } } });
  const listed = async (client: ApiClient) =>
    ok(await client.GET('/api/control/account/keys', { params: { query: { limit: 1000 } } })).keys;

  beforeAll(async () => {
    wide = await mintKey(alice.client, { scopes: all });
    pinned = await mintKey(alice.client, { scopes: all, workspace_id: team });
    samePin = await mintKey(alice.client, { scopes: all, workspace_id: team });
    otherPin = await mintKey(alice.client, { scopes: all, workspace_id: other });
  });

  it('the session and account-wide keys see and revoke every key', async () => {
    for (const client of [alice.client, api.as(wide.text)]) {
      expect((await listed(client)).map(({ id }) => id)).toEqual(expect.arrayContaining([wide.id, pinned.id, samePin.id, otherPin.id]));
      const goner = await mintKey(alice.client, { workspace_id: other });
      expect((await revoke(client, goner.id)).response.status).toBe(204);
    }
  });

  it('a pinned key sees and revokes those pinned the same way, and no others', async () => {
    const client = api.as(pinned.text);
    const seen = await listed(client);
    expect(new Set(seen.map(({ resource }) => resource))).toEqual(new Set([`workspace:${team}`]));
    expect(seen.map(({ id }) => id)).toEqual(expect.arrayContaining([pinned.id, samePin.id]));
    for (const id of [wide.id, otherPin.id]) refused(await revoke(client, id), 403, 'outside-reach');
    expect((await revoke(client, samePin.id)).response.status).toBe(204);
    for (const { text } of [wide, otherPin]) expect((await api.as(text).GET('/api/v1/me')).response.status).toBe(200);
    refused(await api.as(samePin.text).GET('/api/v1/me'), 401, 'unauthenticated');
  });

  it('a pinned key revokes itself', async () => {
    const goner = await mintKey(alice.client, { scopes: ['keys:revoke'], workspace_id: team });
    expect((await revoke(api.as(goner.text), goner.id)).response.status).toBe(204);
    refused(await api.as(goner.text).GET('/api/v1/me'), 401, 'unauthenticated');
  });

  it('the same holds for tokens, of which each also manages itself', async () => {
    const remove = (client: ApiClient, id: string) => client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: id } } });
    const account = await mintToken(alice.client);
    const manages = { scopes: ['keys:read' as const, 'keys:revoke' as const], resource: `workbook:${inTeam}` };
    const [one, two] = [await mintToken(alice.client, manages), await mintToken(alice.client, manages)];
    const client = api.as(one.text);
    expect(ok(await client.GET('/api/v1/me/tokens')).tokens.every(({ resource }) => resource === `workbook:${inTeam}`)).toBe(true);
    refused(await remove(client, account.id), 403, 'outside-reach');
    expect((await remove(client, two.id)).response.status).toBe(204);
    expect((await remove(client, one.id)).response.status).toBe(204);
    refused(await client.GET('/api/v1/me'), 401, 'unauthenticated');
    expect((await remove(api.as(account.text), account.id)).response.status).toBe(204);
  });

  it('somebody else’s are not there; revoking twice is 204; the list shows when', async () => {
    refused(await revoke(bob.client, wide.id), 404, 'not-found');
    const theirs = await mintToken(bob.client);
    const gone = await alice.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: theirs.id } } });
    refused(gone, 404, 'not-found');
    expect((await api.as(theirs.text).GET('/api/v1/me')).response.status).toBe(200);
    const goner = await mintKey(alice.client);
    for (let i = 0; i < 2; i++) expect((await revoke(alice.client, goner.id)).response.status).toBe(204);
    expect((await listed(alice.client)).find(({ id }) => id === goner.id)?.revoked_at).toMatch(/Z$/);
    const { rows } = await api.sql.query("SELECT 1 FROM audit_entries WHERE action = 'key.revoked' AND target = $1", [goner.id]);
    expect(rows).toHaveLength(1);
  });

  it('needs a scope each for listing, minting and revoking tokens, by token and by key; a token revokes itself with none', async () => {
    const goner = await mintToken(alice.client);
    const tries = {
      'keys:read': (client: ApiClient) => client.GET('/api/v1/me/tokens'),
      'keys:mint': (client: ApiClient) => client.POST('/api/v1/me/tokens', { body: { name: 'x', scopes: ['keys:mint'] } }),
      'keys:revoke': (client: ApiClient) => client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: goner.id } } }),
    };
    for (const [scope, attempt] of Object.entries(tries) as [keyof typeof tries, (typeof tries)['keys:read']][])
      for (const mint of [mintToken, mintKey]) {
        const without = await mint(alice.client, { scopes: all.filter((each) => each !== scope) });
        expect(refused(await attempt(api.as(without.text)), 403, 'missing-scope').missing_scope).toBe(scope);
        const having = await mint(alice.client, { scopes: [scope] });
        expect([scope, (await attempt(api.as(having.text))).response.status < 300]).toEqual([scope, true]);
      }
    const modest = await mintToken(alice.client, { scopes: ['workbooks:read'] });
    const itself = { params: { path: { token_id: modest.id } } };
    expect((await api.as(modest.text).DELETE('/api/v1/me/tokens/{token_id}', itself)).response.status).toBe(204);
    refused(await api.as(modest.text).GET('/api/v1/me'), 401, 'unauthenticated');
  });

  it('needs the scope, which reading keys is not', async () => {
    const reader = api.as((await mintKey(alice.client, { scopes: ['keys:read', 'keys:mint'] })).text);
    refused(await revoke(reader, wide.id), 403, 'missing-scope');
  });
});

describe('rule 11: who makes accounts and workspaces', () => {
  it('the owner’s session makes sibling accounts; no key does, whatever its scopes', async () => {
    const made = ok(await alice.client.POST('/api/control/accounts', { body: { name: 'By session' } }));
    expect(made).toMatchObject({ kind: 'developer', name: 'By session', owner_id: alice.userId });
    const key = await mintKey(alice.client, { scopes: all });
    refused(await api.as(key.text).POST('/api/control/accounts', { body: { name: 'By key' } }), 403, 'not-owner');
    const pinned = await mintKey(alice.client, { scopes: all, workspace_id: team });
    refused(await api.as(pinned.text).POST('/api/control/accounts', { body: { name: 'By key' } }), 403, 'not-owner');
    const token = await mintToken(alice.client, { scopes: all });
    refused(await api.as(token.text).POST('/api/control/accounts', { body: { name: 'By token' } }), 401, 'unauthenticated');
    const names = ok(await alice.client.GET('/api/control/accounts')).accounts.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('By '))).toEqual(['By session']);
  });

  it('an account-wide key or the session provisions workspaces; a pinned key does not', async () => {
    const key = api.as((await mintKey(alice.client, { scopes: ['workspaces:create'] })).text);
    const made = ok(await key.POST('/api/control/workspaces', { body: { name: 'By key' } }));
    expect(made).toMatchObject({ kind: 'managed', is_default: false });
    const pinned = api.as((await mintKey(alice.client, { scopes: all, workspace_id: team })).text);
    refused(await pinned.POST('/api/control/workspaces', { body: { name: 'By pinned key' } }), 403, 'outside-reach');
  });
});
