import { UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { deleteExpired } from '../../store/pg/expiry.ts';
import { ok, type Person, refused, startTestApi, type TestApi, type TestServer } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace, mintToken } from '../setup/credentials.ts';
import { audience, startIssuer, type TestIssuer } from '../setup/issuer.ts';

/** Sessions that an OIDC issuer gives, against an issuer of our own. */

let issuer: TestIssuer;
let api: TestApi;
let second: TestServer;

beforeAll(async () => {
  issuer = await startIssuer();
  api = await startTestApi({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: audience, SVC_RATE_LIMITS: 'off' });
  second = await api.another();
});
afterAll(async () => {
  await api.stop();
  await issuer.stop();
});
afterEach(() => {
  vi.useRealTimers();
});

const me = (token: string, server: TestServer = api) => server.as(token).GET('/api/v1/me');
const countUsers = async () => (await api.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM users')).rows[0]?.n;

describe('OIDC: a token of the issuer', () => {
  it('makes the user at first touch, and finds them again', async () => {
    const token = await issuer.sign({ sub: 'u-1', email: 'one@corp.example', email_verified: true, name: '一郎' });
    const first = ok(await me(token));
    expect(first).toMatchObject({
      user: { email: 'one@corp.example', name: '一郎' },
      workspace_name: 'Personal',
      credential: { kind: 'session' },
    });
    const later = ok(await me(await issuer.sign({ sub: 'u-1', email: 'renamed@corp.example', email_verified: true }), second));
    expect(later.user).toEqual(first.user);
    expect(later.account_id).toBe(first.account_id);
  });

  it('works like a session on both planes', async () => {
    const client = api.as(await issuer.sign({ sub: 'u-2', email: 'two@corp.example' }));
    ok(await client.POST('/api/control/accounts', { body: { name: 'Developer' } }));
    const token = await mintToken(client, { scopes: ['workbooks:write'] });
    ok(await api.as(token.text).POST('/api/v1/workbooks', { body: { title: 'By token' } }));
    const { rows } = await api.sql.query("SELECT detail FROM audit_entries WHERE action = 'user.created' AND detail->>'how' = 'oidc'");
    expect(rows.length).toBeGreaterThan(0);
  });

  it('makes one user when it first comes many times at once, to two processes', async () => {
    const before = (await countUsers()) ?? 0;
    const token = await issuer.sign({ sub: 'u-crowd', email: 'crowd@corp.example', email_verified: true });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => me(token, i % 2 ? api : second)));
    expect(new Set(answers.map((answer) => ok(answer).user.id)).size).toBe(1);
    expect(await countUsers()).toBe(before + 1);
  });

  it('makes a user without an e-mail, too, and one for each subject', async () => {
    const [a, b] = [ok(await me(await issuer.sign({ sub: 'plain-a' }))), ok(await me(await issuer.sign({ sub: 'plain-b' })))];
    expect(a.user.id).not.toBe(b.user.id);
  });

  it('never leads into the account of somebody who has typed the address in at sign-up', async () => {
    const squatter = await api.signUp('Squatter');
    const workbook = await makeWorkbook(squatter.client, 'Bait');
    const token = await issuer.sign({ sub: 'victim', email: squatter.email.toUpperCase(), email_verified: true });
    const victim = ok(await me(token));
    expect(victim.user.id).not.toBe(squatter.userId);
    expect(victim.account_id).not.toBe(ok(await squatter.client.GET('/api/v1/me')).account_id);
    // Neither sees what is the other's, by the session, by the password or by an invitation to the address.
    const path = { workbook_id: workbook };
    refused(await api.as(token).GET('/api/v1/workbooks/{workbook_id}', { params: { path } }), 404, 'not-found');
    const again = ok(await api.as().POST('/api/auth/login', { body: { email: squatter.email, password: squatter.password } }));
    expect(again.user.id).toBe(squatter.userId);
    const host = await api.signUp('Host');
    const workspace = await makeWorkspace(host.client, 'Shared');
    const added = ok(
      await host.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: workspace } },
        body: { email: squatter.email, role: 'viewer' },
      }),
    );
    expect(added.user.id).toBe(victim.user.id);
    // The address is the owner's from now on; his other tokens find him again.
    expect(ok(await me(await issuer.sign({ sub: 'victim' }))).user.id).toBe(victim.user.id);
    refused(
      await api.as().POST('/api/auth/signup', { body: { email: squatter.email, password: 'correct horse battery' } }),
      409,
      'name-taken',
    );
  });

  it('lets nobody in the way of those who come without a verified e-mail', async () => {
    const squatter = await api.signUp();
    // As somebody would who has guessed under which address such a person is kept.
    await api.sql.query('UPDATE users SET email = $1 WHERE id = $2', [`early@${new URL(issuer.url).host}`, squatter.userId]);
    for (const claims of [{ sub: 'early' }, { sub: 'early-2', email: squatter.email }]) {
      const first = ok(await me(await issuer.sign(claims)));
      expect(first.user.id).not.toBe(squatter.userId);
      expect(ok(await me(await issuer.sign(claims))).user.id).toBe(first.user.id);
    }
  });

  it('leads to a user who is here already only with an e-mail that both have verified', async () => {
    const person = { email: 'both@corp.example', userId: '' };
    person.userId = ok(await me(await issuer.sign({ sub: 'earlier', email: person.email, email_verified: true }))).user.id;
    refused(await me(await issuer.sign({ sub: 'thief', email: person.email })), 401, 'unauthenticated');
    refused(await me(await issuer.sign({ sub: 'thief', email: person.email, email_verified: false })), 401, 'unauthenticated');
    refused(await me(await issuer.sign({ sub: 'thief', email: person.email, email_verified: 'true' })), 401, 'unauthenticated');
    const verified = await issuer.sign({ sub: 'rightful', email: person.email, email_verified: true });
    expect(ok(await me(verified)).user.id).toBe(person.userId);
  });

  it('does not hand an e-mail to someone who has not shown that it is theirs', async () => {
    // Otherwise a stranger waits inside the account into which the owner of the address will come later.
    const squatter = ok(await me(await issuer.sign({ sub: 'squatter', email: 'later@corp.example', email_verified: false })));
    const rightful = ok(await me(await issuer.sign({ sub: 'later', email: 'later@corp.example', email_verified: true })));
    expect(rightful.user.id).not.toBe(squatter.user.id);
  });
});

describe('OIDC: a token that is refused', () => {
  const in10 = () => Math.floor(Date.now() / 1000) + 600;

  it.each<[string, () => Promise<string>, string]>([
    ['another audience', () => issuer.sign({ aud: 'somebody else' }), 'unauthenticated'],
    ['no audience', () => issuer.sign({ aud: undefined }), 'unauthenticated'],
    ['another issuer', () => issuer.sign({ iss: 'https://evil.example' }), 'unauthenticated'],
    ['an issuer that differs by a slash', () => issuer.sign({ iss: `${issuer.url}/` }), 'unauthenticated'],
    ['no subject', () => issuer.sign({ sub: undefined }), 'unauthenticated'],
    ['no end', () => issuer.sign({ exp: undefined }), 'unauthenticated'],
    ['an end in the past', () => issuer.sign({ exp: in10() - 1200 }), 'token-expired'],
    ['a beginning in the future', () => issuer.sign({ nbf: in10() }), 'unauthenticated'],
    ['an unknown key', () => issuer.sign({}, { kid: 'unknown' }), 'unauthenticated'],
    ['no algorithm', async () => new UnsecuredJWT({ iss: issuer.url, aud: audience, sub: 'x', exp: in10() }).encode(), 'unauthenticated'],
    ['the public key as a shared secret', () => issuer.sign({}, { alg: 'HS256', key: Buffer.from(issuer.publicKey) }), 'unauthenticated'],
    ['our own session issuer, signed by them', () => issuer.sign({ iss: 'urn:svc:sessions', jti: 'x' }), 'unauthenticated'],
  ])('%s', async (_, make, slug) => {
    const before = await countUsers();
    refused(await me(await make()), 401, slug);
    expect(await countUsers()).toBe(before);
  });

  it('one that was altered', async () => {
    const [header, payload, signature] = (await issuer.sign({ sub: 'u-1' })).split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const altered = Buffer.from(JSON.stringify({ ...claims, sub: 'u-2' })).toString('base64url');
    refused(await me(`${header}.${altered}.${signature}`), 401, 'unauthenticated');
  });

  it('any, where no issuer is configured', async () => {
    const closed = await api.another({ OIDC_ISSUER: '', OIDC_AUDIENCE: '' });
    refused(await me(await issuer.sign({ sub: 'u-1' }), closed), 401, 'unauthenticated');
  });
});

describe('logOut with a token of the issuer', () => {
  it('holds for a token with a jti and for one without, on every process', async () => {
    for (const jti of ['a-jti', undefined]) {
      const token = await issuer.sign({ sub: 'u-out', jti });
      expect((await me(token)).response.status).toBe(200);
      expect((await api.as(token).POST('/api/auth/logout')).response.status).toBe(204);
      for (const server of [second, api]) refused(await me(token, server), 401, 'unauthenticated');
      // Another token of the same person is another session.
      expect((await me(await issuer.sign({ sub: 'u-out', jti: `another ${jti}` }))).response.status).toBe(200);
    }
  });

  it('holds for as long as the token would be accepted, whatever is swept meanwhile', async () => {
    const exp = Math.floor(Date.now() / 1000) - 2;
    const token = await issuer.sign({ sub: 'u-late', exp });
    const before = await me(token);
    if (before.response.ok) await api.as(token).POST('/api/auth/logout');
    await deleteExpired(api.services.db, () => {});
    expect((await me(token)).response.status).toBe(401);
  });
});

describe('OIDC: the issuer’s keys', () => {
  let person: Person;
  beforeAll(async () => {
    person = await api.signUp();
  });
  afterEach(() => trust(issuer.url));

  /** Another issuer for the server that is running: starting one for each would take long. */
  const trust = (url: string) => Object.assign(api.services.config, { oidc: { issuer: url, audience } });

  it('may change', async () => {
    const fresh = await startIssuer();
    trust(fresh.url);
    ok(await me(await fresh.sign({ sub: 'r-1' })));
    await fresh.rotate();
    // A key that is not known yet is asked for again once the last answer is half a minute old.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    ok(await me(await fresh.sign({ sub: 'r-1' })));
    await fresh.stop();
  });

  it.each<[string, (broken: TestIssuer) => unknown]>([
    ['the issuer is away', (broken) => broken.stop()],
    ['its discovery fails', ({ answers }) => Object.assign(answers, { discovery: 500 })],
    ['its discovery names another issuer', ({ answers }) => Object.assign(answers, { issuer: 'https://evil.example' })],
    ['its keys fail', ({ answers }) => Object.assign(answers, { keys: 500 })],
  ])('that cannot be had because %s give 503, and are asked for again', async (_, breakIt) => {
    const broken = await startIssuer();
    trust(broken.url);
    const token = await broken.sign({ sub: 'away' });
    await breakIt(broken);
    const answer = await me(token);
    refused(answer, 503, 'unavailable');
    expect(answer.response.headers.get('retry-after')).toBeTruthy();
    // Ours go on meanwhile.
    expect((await me(person.session)).response.status).toBe(200);
    if (broken.answers.discovery === 200 && broken.answers.keys === 200 && !broken.answers.issuer) return;
    Object.assign(broken.answers, { discovery: 200, keys: 200, issuer: undefined });
    ok(await me(token));
    await broken.stop();
  });
});
