import { createHmac } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionIssuer } from '../../activities/identity/sessionToken.ts';
import type { Operation } from '../../api/http/contract.ts';
import { scopes } from '../../core/access/scopes.ts';
import { makeId } from '../../store/services.ts';
import { makeSample, sendSample } from '../contract/samples.ts';
import { makeWorld, startWorkingApi, type World } from '../contract/world.ts';
import { ok, refused, type TestApi, type TestServer } from '../setup/api.ts';
import { makeAccount, makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';
import { findInDatabase } from '../setup/scan.ts';

/** Rules 1, 2, 3, 5 and 8 of "Authentication" in the specification; the others are in the files beside this one. */

let api: TestApi;
/** A second process over the same database. */
let second: TestServer;
let world: World;

beforeAll(async () => {
  api = await startWorkingApi();
  second = await api.another();
  world = await makeWorld(api);
});
afterAll(() => api.stop());

const me = (server: TestServer, token?: string) => server.as(token).GET('/api/v1/me');

describe('rule 1: the data plane takes a bearer token', () => {
  it('accepts a personal access token', async () => {
    const token = await mintToken(world.owner.client);
    expect(ok(await me(api, token.text)).credential).toMatchObject({ kind: 'access_token', id: token.id });
  });

  it('accepts a session, which may mint tokens, and an account key', async () => {
    expect(ok(await me(api, world.owner.session)).credential.kind).toBe('session');
    const key = await mintKey(world.owner.client);
    expect(ok(await me(api, key.text)).credential).toMatchObject({ kind: 'account_key', id: key.id });
  });

  it.each(['', 'Bearer', 'Basic dXNlcjpwYXNz', 'Token x', 'Bearer a b'])('refuses the header "%s"', async (header) => {
    const answer = await api.fetch('/api/v1/me', header ? { headers: { Authorization: header } } : {});
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  it('refuses forged tokens', async () => {
    const [mine, other] = [await mintToken(world.owner.client), await mintToken(world.owner.client)];
    const marker = 'svc_pat_'.length + 26;
    const forged = {
      'another secret': `${mine.text.slice(0, -1)}${mine.text.endsWith('A') ? 'B' : 'A'}`,
      'the secret of another token': `${mine.text.slice(0, marker)}${other.text.slice(marker)}`,
      'no secret': mine.text.slice(0, marker),
      'a longer secret': `${mine.text}A`,
      'the stored hash for a secret': `${mine.text.slice(0, marker)}${await storedHash(mine.id)}`,
      'a key’s marker': mine.text.replace('svc_pat_', 'svc_key_'),
      'an id in lower case': mine.text.slice(0, marker).toLowerCase() + mine.text.slice(marker),
      'the id alone': mine.id,
    };
    for (const [what, text] of Object.entries(forged)) {
      const answer = await me(api, text);
      expect([what, answer.response.status]).toEqual([what, 401]);
      refused(answer, 401, 'unauthenticated');
    }
    expect((await me(api, mine.text)).response.status).toBe(200);
  });

  it('refuses forged sessions', async () => {
    const claims = { iss: sessionIssuer, sub: world.owner.userId, jti: makeId('ses'), exp: Math.floor(Date.now() / 1000) + 3600 };
    const signed = (key: Uint8Array, alg = 'HS256') => new SignJWT(claims).setProtectedHeader({ alg }).sign(key);
    const [header, payload, signature] = world.owner.session.split('.') as [string, string, string];
    const known = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forged = {
      'signed with another key': await signed(Buffer.alloc(32, 7)),
      'signed with the plain secret': await signed(Buffer.from(api.config.secret)),
      'another algorithm': await signed(Buffer.concat([api.services.sessionKey, Buffer.alloc(32)]), 'HS512'),
      'no algorithm': `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
      'no algorithm, old signature': `${encode({ alg: 'none' })}.${payload}.${signature}`,
      'another user': `${header}.${encode({ ...known, sub: world.stranger.userId })}.${signature}`,
      'a longer life': `${header}.${encode({ ...known, exp: claims.exp * 2 })}.${signature}`,
      'our key, but a session that never was': await signed(api.services.sessionKey),
      'our key, no jti': await new SignJWT({ ...claims, jti: undefined })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(api.services.sessionKey),
      'our key, another issuer': await new SignJWT({ ...claims, iss: 'x' })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(api.services.sessionKey),
      'no JWT': createHmac('sha256', 'x').digest('base64url'),
    };
    for (const [what, text] of Object.entries(forged)) {
      const answer = await me(api, text);
      expect([what, answer.response.status]).toEqual([what, 401]);
    }
    expect((await me(api, world.owner.session)).response.status).toBe(200);
  });

  it('refuses a token after its time', async () => {
    const token = await mintToken(world.owner.client, { expires_in_days: 1 });
    expect((await me(api, token.text)).response.status).toBe(200);
    await api.sql.query("UPDATE credentials SET expires_at = now() - interval '1 second' WHERE id = $1", [token.id]);
    refused(await me(api, token.text), 401, 'token-expired');
  });

  it.each(['token', 'key'] as const)('refuses a revoked %s at once, on every process', async (kind) => {
    const made = kind === 'token' ? await mintToken(world.owner.client) : await mintKey(world.owner.client);
    for (const server of [api, second]) expect((await me(server, made.text)).response.status).toBe(200);
    const revoked =
      kind === 'token'
        ? await world.owner.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: made.id } } })
        : await world.owner.client.DELETE('/api/control/account/keys/{key_id}', { params: { path: { key_id: made.id } } });
    expect(revoked.response.status).toBe(204);
    for (const server of [second, api]) refused(await me(server, made.text), 401, 'unauthenticated');
  });
});

describe('rule 2: the control plane takes an account key or the owner’s session', () => {
  it('accepts both', async () => {
    const key = await mintKey(world.owner.client, { scopes: ['account:read'] });
    expect(ok(await api.as(key.text).GET('/api/control/account')).id).toBe(world.accountId);
    expect(ok(await world.owner.client.GET('/api/control/account')).id).toBe(world.accountId);
  });

  it('refuses a personal access token on every operation of it', async () => {
    const token = await mintToken(world.owner.client, { scopes: [...scopes] });
    // Pages of payments are opened by their address alone.
    const control = api.contract.operations.filter(({ path, accepts }) => path.startsWith('/api/control/') && accepts.length > 0);
    expect(control.length).toBeGreaterThan(14);
    for (const operation of control) {
      const answer = await sendSample(world, operation, { ...(await makeSample(world, operation)), token: token.text });
      expect([operation.id, answer.status]).toEqual([operation.id, 401]);
    }
  });

  it('shows somebody else’s session nothing of the account', async () => {
    const query = { account_id: world.accountId };
    const { client } = world.stranger;
    refused(await client.GET('/api/control/account', { params: { query } }), 404, 'not-found');
    refused(await client.GET('/api/control/account/keys', { params: { query } }), 404, 'not-found');
    refused(await client.GET('/api/control/workspaces', { params: { query } }), 404, 'not-found');
    refused(await client.POST('/api/control/workspaces', { body: { name: 'x', account_id: world.accountId } }), 404, 'not-found');
    // Not even to a member of one of its workspaces.
    refused(await world.viewer.client.GET('/api/control/account', { params: { query } }), 404, 'not-found');
  });

  it('lets only a session log out', async () => {
    for (const { text } of [await mintKey(world.owner.client), await mintToken(world.owner.client)])
      refused(await api.as(text).POST('/api/auth/logout'), 401, 'unauthenticated');
  });
});

describe('rule 3: a signed upload address stands for itself', () => {
  it('asks for no credential, by contract and in fact', async () => {
    const upload = api.contract.operations.find(({ id }) => id === 'putUpload') as Operation;
    expect(upload.accepts).toEqual([]);
    const path = upload.path.replace('{upload_id}', makeId('upl'));
    const bytes = { method: 'PUT', headers: { 'Content-Type': 'text/csv' }, body: 'a,b' };
    const withSession = { ...bytes, headers: { ...bytes.headers, Authorization: `Bearer ${world.owner.session}` } };
    for (const query of ['?expires=1&sig=x', '']) {
      const answer = await fetch(`${api.url}${path}${query}`, bytes);
      expect(answer.status).not.toBe(401);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      // A session does not replace a signature: it changes nothing.
      expect((await fetch(`${api.url}${path}${query}`, withSession)).status).toBe(answer.status);
    }
  });
});

describe('rule 5: a token or key is bound to one account', () => {
  let developer: string;
  let inDeveloper: string;
  beforeAll(async () => {
    developer = await makeAccount(world.owner.client, 'Developer');
    const workspace = await makeWorkspace(world.owner.client, 'Production', developer);
    inDeveloper = await makeWorkbook(world.owner.client, 'Over there', workspace);
  });

  it('the default account unless another is named', async () => {
    const token = await mintToken(world.owner.client);
    expect(ok(await me(api, token.text))).toMatchObject({ account_id: world.accountId, account_name: 'Olivia' });
    const key = await mintKey(world.owner.client);
    expect(ok(await me(api, key.text))).toMatchObject({ account_id: world.accountId, account_name: 'Olivia' });
  });

  it('the developer account that is named', async () => {
    const token = await mintToken(world.owner.client, { account_id: developer });
    expect(ok(await me(api, token.text))).toMatchObject({ account_id: developer, account_name: 'Developer', workspace_name: 'Production' });
    const key = await mintKey(world.owner.client, { account_id: developer });
    expect(ok(await me(api, key.text))).toMatchObject({ account_id: developer, account_name: 'Developer' });
  });

  it('not an account of somebody else', async () => {
    const body = { name: 'x', account_id: world.accountId };
    refused(await world.stranger.client.POST('/api/v1/me/tokens', { body }), 404, 'not-found');
    refused(await world.viewer.client.POST('/api/v1/me/tokens', { body }), 404, 'not-found');
  });

  it('sees nothing of the user’s other accounts, and mints nothing there', async () => {
    const there = await mintToken(world.owner.client, { account_id: developer, scopes: [...scopes] });
    const here = await mintToken(world.owner.client, { scopes: [...scopes] });
    const open = (token: string, workbook: string) =>
      api.as(token).GET('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: workbook } } });
    expect((await open(there.text, inDeveloper)).response.status).toBe(200);
    refused(await open(there.text, world.workbook), 404, 'not-found');
    refused(await open(here.text, inDeveloper), 404, 'not-found');
    // The session itself reaches both.
    for (const id of [inDeveloper, world.workbook]) expect((await open(world.owner.session, id)).response.status).toBe(200);
    refused(await api.as(there.text).POST('/api/v1/me/tokens', { body: { name: 'x', account_id: world.accountId } }), 404, 'not-found');
    const key = await mintKey(world.owner.client, { account_id: developer, scopes: [...scopes] });
    const query = { account_id: world.accountId };
    refused(await api.as(key.text).GET('/api/control/account/keys', { params: { query } }), 404, 'not-found');
    expect(ok(await api.as(key.text).GET('/api/control/accounts')).accounts.map(({ id }) => id)).toEqual([developer]);
  });
});

describe('rule 8: scopes default to reading, and the plaintext is shown once', () => {
  it('gives a token workbooks:read and 90 days when nothing is said, and refuses odd lifetimes', async () => {
    const made = ok(await world.owner.client.POST('/api/v1/me/tokens', { body: { name: 'plain' } }));
    expect(made.scopes).toEqual(['workbooks:read']);
    const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(89.99);
    expect(days).toBeLessThan(90.01);
    const nothing = ok(
      await world.owner.client.POST('/api/v1/me/tokens', { body: { name: 'plain', scopes: null, expires_in_days: null } }),
    );
    expect(nothing.scopes).toEqual(['workbooks:read']);
    for (const expires_in_days of [0, 366, 1.5])
      refused(await world.owner.client.POST('/api/v1/me/tokens', { body: { name: 'x', expires_in_days } }), 422, 'validation-failed');
  });

  it('shows a token’s and a key’s text in the answer to its creation and nowhere else', async () => {
    const token = await mintToken(world.owner.client, { name: 'seen once' });
    const key = await mintKey(world.owner.client, { name: 'seen once' });
    expect(token.text).toMatch(/^svc_pat_/);
    expect(key.text).toMatch(/^svc_key_/);
    await me(api, token.text);
    const shown = [
      await world.owner.client.GET('/api/v1/me/tokens'),
      await world.owner.client.GET('/api/control/account/keys'),
      await me(api, token.text),
      await me(api, key.text),
      await world.owner.client.GET('/api/v1/me/usage'),
    ].map((answer) => JSON.stringify(answer.data));
    expect(shown.join('\n')).toContain(token.id);
    for (const { text } of [token, key]) expect(shown.join('\n')).not.toContain(text.slice(-43));
  });

  it('keeps no secret in the database: no token, key, password or session, in any column of any table', async () => {
    const token = await mintToken(world.owner.client, { name: 'needle' });
    const key = await world.owner.client.POST('/api/control/account/keys', {
      params: { header: { 'Idempotency-Key': 'a-key-for-a-secret-answer' } },
      body: { name: 'needle', scopes: ['keys:read'], rate_limit_per_minute: 600 },
    });
    const secrets = {
      token: token.text.slice(-43),
      key: ok(key).key.slice(-43),
      password: world.owner.password,
      session: world.owner.session.split('.')[2] ?? '',
      'idempotency key': 'a-key-for-a-secret-answer',
      'master secret': api.config.secret,
    };
    for (const [what, secret] of Object.entries(secrets)) expect([what, await findInDatabase(api.sql, secret)]).toEqual([what, []]);
    // That the search finds what is there: in text, in jsonb and in bytea.
    expect(await findInDatabase(api.sql, 'needle')).toEqual(['credentials']);
    expect(await findInDatabase(api.sql, token.id)).toEqual(['audit_entries', 'credentials']);
    await api.sql.query("CREATE TABLE scan_probe AS SELECT convert_to('hidden in bytes', 'UTF8') AS bytes");
    expect(await findInDatabase(api.sql, 'hidden in bytes')).toEqual(['scan_probe']);
    await api.sql.query('DROP TABLE scan_probe');
  });
});

async function storedHash(id: string): Promise<string> {
  const { rows } = await api.sql.query<{ secret_hash: string }>('SELECT secret_hash FROM credentials WHERE id = $1', [id]);
  return rows[0]?.secret_hash ?? '';
}
