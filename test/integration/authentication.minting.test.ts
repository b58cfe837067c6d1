import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, ok, refused } from '../setup/api.ts';
import { type Minted, makeAccount, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { all, startReach, workbook } from './reach.ts';

/** Rules 9, 10 and 11 of "Authentication" in the specification: what a credential may mint, manage and make. */

const { api, alice, bob, team, other, inTeam, alsoInTeam, inOther, tokenFor } = await startReach();
afterAll(() => api.stop());

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
