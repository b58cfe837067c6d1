import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../store/config.ts';
import { deleteExpired } from '../../store/pg/expiry.ts';
import { ok, type Person, refused, startTestApi, type TestApi, type TestServer } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';

/** Sign-up, log-in, log-out and the throttle. Sessions from an OIDC issuer are in sessions.oidc.test.ts. */

let api: TestApi;
let second: TestServer;
let person: Person;

beforeAll(async () => {
  // Behind a proxy, so that the tests can come from many addresses.
  api = await startTestApi({ SVC_TRUST_PROXY: 'on' });
  second = await api.another();
  person = await api.signUp('Person');
});
afterAll(() => api.stop());
afterEach(() => {
  vi.useRealTimers();
});

let addresses = 0;
const newAddress = () => `10.0.${++addresses >> 8}.${addresses & 255}`;

function send(server: TestServer, operation: 'login' | 'signup', body: Record<string, unknown>, address = newAddress()): Promise<Response> {
  return server.fetch(`/api/auth/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
    body: JSON.stringify(body),
  });
}
const logIn = (body: { email?: string; password?: string }, address?: string, server: TestServer = api) =>
  send(server, 'login', { email: person.email, password: person.password, ...body }, address);

describe('signUp', () => {
  it('gives a user, a session, an account and a personal workspace', async () => {
    const made = ok(await api.as().POST('/api/auth/signup', { body: { email: 'new@example.com', password: 'ten letters', name: '佐藤' } }));
    expect(made.user).toMatchObject({ email: 'new@example.com', name: '佐藤' });
    const client = api.as(made.session_token);
    expect(ok(await client.GET('/api/v1/me'))).toMatchObject({ account_name: '佐藤', workspace_name: 'Personal', plan: 'free' });
    expect(ok(await client.GET('/api/control/accounts')).accounts).toMatchObject([{ kind: 'default' }]);
    expect(ok(await client.GET('/api/control/workspaces')).workspaces).toMatchObject([{ kind: 'personal', is_default: true }]);
  });

  it('is refused for an e-mail that is taken, in any case of letters', async () => {
    const answer = await send(api, 'signup', { email: person.email.toUpperCase(), password: 'ten letters' });
    expect(answer.status).toBe(409);
  });

  it.each([
    ['1234567890', 'is one that many people use'],
    ['Password123', 'is one that many people use'],
    ['QwertyUiop', 'is one that many people use'],
    ['baseball2026', 'is one that many people use'],
    ['own.name.here', 'is the e-mail address'],
    ['Own.Name.Here@example.com', 'is the e-mail address'],
  ])('is refused with the password %s', async (password, detail) => {
    const answer = await send(api, 'signup', { email: 'own.name.here@example.com', password });
    const problem = (await answer.json()) as { errors: unknown };
    expect([answer.status, problem.errors]).toEqual([422, [{ pointer: '/password', detail: expect.stringContaining(detail) }]]);
  });

  it('is limited for one address; a network of IPv6 counts as one', async () => {
    const tries = Array.from({ length: 31 }, (_, i) =>
      send(api, 'signup', { email: 'many@example.com', password: '1234567890' }, `2001:db8:0:7:${i + 1}::1`),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(30).fill(422), 429]);
    const another = await send(api, 'signup', { email: 'many@example.com', password: '1234567890' }, '2001:db8:0:8::1');
    expect(another.status).toBe(422);
  });

  it('makes one user when the same e-mail comes many times at once; the others are told that it is taken', async () => {
    const email = 'race@example.com';
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => send(i % 2 ? api : second, 'signup', { email, password: `password ${i} of six` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const { rows } = await api.sql.query('SELECT count(*)::int AS n FROM users WHERE email = $1', [email]);
    expect(rows).toEqual([{ n: 1 }]);
  });

  it.each([
    ['a short password', { email: 'a@example.com', password: 'nine char' }],
    ['a very long password', { email: 'a@example.com', password: 'x'.repeat(201) }],
    ['no password', { email: 'a@example.com' }],
    ['no e-mail', { password: 'long enough' }],
    ['an e-mail that is none', { email: 'not an e-mail', password: 'long enough' }],
    ['an e-mail with two @', { email: 'a@b@c', password: 'long enough' }],
    ['an over-long e-mail', { email: `${'a'.repeat(250)}@example.com`, password: 'long enough' }],
    ['a role', { email: 'a@example.com', password: 'long enough', role: 'admin' }],
  ])('is refused with %s', async (_, body) => {
    expect((await send(api, 'signup', body)).status).toBe(422);
    expect((await api.sql.query("SELECT 1 FROM users WHERE email LIKE 'a%@example.com'")).rowCount).toBe(0);
  });

  it('can be switched off; logging in goes on', async () => {
    const closed = await api.another({ SVC_SIGNUP: 'off' });
    const answer = await send(closed, 'signup', { email: 'late@example.com', password: 'ten letters' });
    expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([501, 'urn:svc:problem:not-configured']);
    expect((await api.sql.query("SELECT 1 FROM users WHERE email = 'late@example.com'")).rowCount).toBe(0);
    expect((await logIn({}, undefined, closed)).status).toBe(200);
  });

  it('keeps passwords as salted scrypt', async () => {
    const { rows } = await api.sql.query<{ password_hash: string }>('SELECT password_hash FROM users');
    expect(rows.every(({ password_hash }) => /^scrypt\$[\w-]{22}\$[\w-]{43}$/.test(password_hash))).toBe(true);
    expect(new Set(rows.map(({ password_hash }) => password_hash)).size).toBe(rows.length);
  });
});

describe('logIn and logOut: a session', () => {
  it('is a JWT of twelve hours, and is refused after them', async () => {
    const session = (await (await logIn({})).json()) as { session_token: string; expires_at: string; user: { id: string } };
    const { exp = 0, iat = 0, sub } = decodeJwt(session.session_token);
    expect([exp - iat, sub, Date.parse(session.expires_at) / 1000]).toEqual([12 * 3600, session.user.id, exp]);
    const me = () => api.as(session.session_token).GET('/api/v1/me');
    expect((await me()).response.status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: (exp - 5) * 1000 });
    expect((await me()).response.status).toBe(200);
    vi.setSystemTime((exp + 1) * 1000);
    refused(await me(), 401, 'token-expired');
  });

  it('has one spelling', async () => {
    const [head, claims, signature] = person.session.split('.') as [string, string, string];
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // 32 bytes leave two bits of the last letter unused.
    const spare = [1, 2, 3].map((bits) => `${signature.slice(0, -1)}${letters[letters.indexOf(signature.at(-1) as string) ^ bits]}`);
    const others = [...spare, `${signature}=`, signature.replaceAll('-', '+').replaceAll('_', '/')].filter((other) => other !== signature);
    for (const other of others) refused(await api.as([head, claims, other].join('.')).GET('/api/v1/me'), 401, 'unauthenticated');
    refused(await api.as([`${head}=`, claims, signature].join('.')).GET('/api/v1/me'), 401, 'unauthenticated');
    ok(await api.as(person.session).GET('/api/v1/me'));
  });

  it('logs in with any case of letters in the e-mail', async () => {
    expect((await logIn({ email: person.email.toUpperCase() })).status).toBe(200);
  });

  it('ends with logging out, at once and on every process; the others and the tokens go on', async () => {
    const sessions = [];
    for (let i = 0; i < 2; i++) sessions.push(((await (await logIn({})).json()) as { session_token: string }).session_token);
    const [mine, other] = sessions as [string, string];
    const token = await mintToken(api.as(mine));
    for (const server of [api, second]) expect((await server.as(mine).GET('/api/v1/me')).response.status).toBe(200);
    expect((await api.as(mine).POST('/api/auth/logout')).response.status).toBe(204);
    for (const server of [second, api]) refused(await server.as(mine).GET('/api/v1/me'), 401, 'unauthenticated');
    refused(await api.as(mine).POST('/api/auth/logout'), 401, 'unauthenticated');
    for (const text of [other, token.text]) expect((await api.as(text).GET('/api/v1/me')).response.status).toBe(200);
  });

  it('of a logged-out user does not come back when old rows are swept', async () => {
    const { session_token } = (await (await logIn({})).json()) as { session_token: string };
    await api.as(session_token).POST('/api/auth/logout');
    await deleteExpired(api.services.db, () => {});
    refused(await api.as(session_token).GET('/api/v1/me'), 401, 'unauthenticated');
  });

  it('of another installation is refused', async () => {
    const elsewhere = await api.another({ SVC_SECRET: 'another secret of another installation' });
    refused(await elsewhere.as(person.session).GET('/api/v1/me'), 401, 'unauthenticated');
  });
});

describe('logIn: a bad log-in', () => {
  it('looks the same whether the user is unknown or the password wrong', async () => {
    const strip = async (answer: Response) => {
      const { instance: _, ...problem } = (await answer.json()) as Record<string, unknown>;
      return [answer.status, answer.headers.get('www-authenticate'), problem];
    };
    const wrong = await strip(await logIn({ password: 'not the right one' }));
    const unknown = await strip(await logIn({ email: 'nobody@example.com' }));
    expect(unknown).toEqual(wrong);
    expect(wrong[0]).toBe(401);
  });

  it('takes the same time, too', async () => {
    const time = async (body: { email?: string; password?: string }) => {
      const started = performance.now();
      await logIn(body);
      return performance.now() - started;
    };
    const times: [number, number][] = [];
    for (let i = 0; i < 4; i++)
      times.push([await time({ password: 'not the right one' }), await time({ email: `nobody${i}@example.com` })]);
    await api.sql.query('DELETE FROM login_attempts');
    const fastest = (i: 0 | 1) => Math.min(...times.map((pair) => pair[i]));
    // Without the hashing, the unknown user would be answered at least ten times faster.
    expect(fastest(1)).toBeGreaterThan(fastest(0) / 3);
  });
});

describe('logIn: five bad tries a minute', () => {
  it('for one e-mail, from many addresses and over two processes; then not even the right password', async () => {
    const victim = await api.signUp();
    const statuses = [];
    for (let i = 0; i < 6; i++)
      statuses.push((await logIn({ email: victim.email, password: 'guess' }, undefined, i % 2 ? api : second)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const right = await logIn({ email: victim.email.toUpperCase(), password: victim.password });
    expect([right.status, right.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await logIn({})).status).toBe(200);
  });

  it('for one address, with many e-mails, known or not', async () => {
    const address = newAddress();
    const statuses = [];
    for (let i = 0; i < 6; i++)
      statuses.push((await logIn({ email: `nobody${i}.${address}@example.com`, password: 'guess' }, address)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await logIn({}, address)).status).toBe(429);
    expect((await logIn({})).status).toBe(200);
  });

  it.each([
    ['a network of IPv6', (i: number) => `2001:db8:1:2::${i + 1}`],
    ['an IPv4 address in the form of IPv6', (i: number) => (i % 2 ? '::ffff:192.0.2.9' : '192.0.2.9')],
    ['what the proxy saw, not what its client claims', (i: number) => `198.51.100.${i}, 192.0.2.10`],
  ])('for %s', async (_what, addressOf) => {
    const statuses = [];
    for (let i = 0; i < 6; i++)
      statuses.push(
        (await logIn({ email: `nobody.${addressOf(i).replaceAll(/[^0-9a-f]/g, '.')}${i}@example.com`, password: 'guess' }, addressOf(i)))
          .status,
      );
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('counts guesses that come at the same moment', async () => {
    const victim = await api.signUp();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => logIn({ email: victim.email, password: `guess ${i}` }, undefined, i % 2 ? api : second)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
  });

  it('holds for a minute', async () => {
    const victim = await api.signUp();
    const address = newAddress();
    for (let i = 0; i < 5; i++) await logIn({ email: victim.email, password: 'guess' }, address);
    const again = () => logIn({ email: victim.email, password: victim.password }, address);
    expect((await again()).status).toBe(429);
    await api.sql.query("UPDATE login_attempts SET at = at - interval '50 seconds' WHERE subject LIKE $1", [`%${victim.email}`]);
    expect((await again()).status).toBe(429);
    await api.sql.query("UPDATE login_attempts SET at = at - interval '61 seconds' WHERE subject IN ($1, $2)", [
      `email ${victim.email}`,
      `address ${address}`,
    ]);
    expect((await again()).status).toBe(200);
  });

  it('does not count good log-ins, one after another or at the same moment', async () => {
    const address = newAddress();
    for (let i = 0; i < 7; i++) expect((await logIn({}, address)).status).toBe(200);
    // An office behind one address in the morning: nobody has guessed anything.
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn({}, address)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it('believes an address only from a proxy of ours', async () => {
    const direct = await api.another({ SVC_TRUST_PROXY: 'off' });
    const statuses = [];
    for (let i = 0; i < 6; i++)
      statuses.push((await logIn({ email: `direct${i}@example.com`, password: 'guess' }, newAddress(), direct)).status);
    expect(statuses.at(-1)).toBe(429);
    await api.sql.query('DELETE FROM login_attempts');
  });

  it.each([
    ['2', (i: number) => `203.0.113.${i}, 198.51.100.7, 192.0.2.77`],
    ['on', (i: number) => `203.0.113.${i}, 198.51.100.${i}, 192.0.2.78`],
  ])('believes what %s of our proxies saw, and nothing before it', async (proxies, addressOf) => {
    const behind = await api.another({ SVC_TRUST_PROXY: proxies });
    const statuses = [];
    for (let i = 0; i < 6; i++)
      statuses.push((await logIn({ email: `behind${proxies}${i}@example.com`, password: 'guess' }, addressOf(i), behind)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const other = await logIn(
      { email: `other${proxies}@example.com`, password: 'guess' },
      `198.51.100.8, 192.0.2.${proxies === '2' ? 77 : 79}`,
      behind,
    );
    expect(other.status).toBe(401);
    await behind.stop();
  });

  it('is told how many proxies there are in words or a digit', () => {
    const read = (text: string) => loadConfig({ SVC_TRUST_PROXY: text }).trustedProxies;
    expect(['off', '0', 'on', '1', '2', '9'].map(read)).toEqual([0, 0, 1, 1, 2, 9]);
    expect(() => read('10')).toThrow(/SVC_TRUST_PROXY/);
  });
});
