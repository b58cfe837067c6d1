import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeWorld, startWorkingApi, type World } from '../contract/world.ts';
import { ok, refused, type TestApi, type TestServer } from '../setup/api.ts';
import { mintKey, mintToken, type Scope } from '../setup/credentials.ts';

/** Rule 12 of "Authentication" in the specification. */

let api: TestApi;
/** A second process over the same database. */
let second: TestServer;
let world: World;

beforeAll(async () => {
  api = await startWorkingApi({ SVC_RATE_LIMITS: 'on' });
  second = await api.another();
  world = await makeWorld(api);
});
afterAll(() => api.stop());
afterEach(() => {
  vi.useRealTimers();
});

describe('rule 12: each key has its rate', () => {
  /** The minute stands still: the window cannot end in the middle of a test. */
  const freeze = () => vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / 60_000) * 60_000 });

  it('600 a minute unless it says otherwise, from 1 to 10,000', async () => {
    const plain = ok(await world.owner.client.POST('/api/control/account/keys', { body: { scopes: ['keys:read'] } as never }));
    expect(plain.rate_limit_per_minute).toBe(600);
    for (const rate of [1, 10_000]) {
      const made = await mintKey(world.owner.client, { rate_limit_per_minute: rate });
      expect(ok(await api.as(made.text).GET('/api/v1/me')).credential.rate_limit_per_minute).toBe(rate);
    }
    // A token or key mints nothing faster than itself, whether it asks for that or for the default.
    const slow = api.as((await mintKey(world.owner.client, { rate_limit_per_minute: 30, scopes: ['keys:read', 'keys:mint'] })).text);
    for (const [wanted, given] of [
      [10_000, 30],
      [undefined, 30],
      [29, 29],
    ] as const) {
      const body = { scopes: ['keys:read' as const], ...(wanted === undefined ? {} : { rate_limit_per_minute: wanted }) };
      const made = ok(await slow.POST('/api/control/account/keys', { body: body as never }));
      expect([wanted, made.rate_limit_per_minute]).toEqual([wanted, given]);
    }
    for (const rate_limit_per_minute of [0, 10_001, -5]) {
      refused(
        await world.owner.client.POST('/api/control/account/keys', { body: { scopes: ['keys:read'], rate_limit_per_minute } }),
        422,
        'validation-failed',
      );
      refused(await world.owner.client.POST('/api/v1/me/tokens', { body: { name: 'x', rate_limit_per_minute } }), 422, 'validation-failed');
    }
  });

  it('says what is left, and 429 with Retry-After when nothing is', async () => {
    const { text } = await mintKey(world.owner.client, { rate_limit_per_minute: 3 });
    freeze();
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await api.fetch('/api/v1/me', { token: text }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(answers.map(({ headers }) => headers.get('ratelimit'))).toEqual([2, 1, 0, 0, 0].map((left) => `"credential";r=${left};t=60`));
    expect(answers.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(Array(5).fill('"credential";q=3;w=60'));
    expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual([null, null, null, '60', '60']);
    vi.setSystemTime(Date.now() + 59_000);
    const nearly = await api.fetch('/api/v1/me', { token: text });
    expect([nearly.status, nearly.headers.get('retry-after')]).toEqual([429, '1']);
    vi.setSystemTime(Date.now() + 1_000);
    expect((await api.fetch('/api/v1/me', { token: text })).status).toBe(200);
  });

  it('is shared with what it minted, in every generation', async () => {
    const minting: Scope[] = ['keys:mint', 'workbooks:read'];
    const first = await mintToken(world.owner.client, { rate_limit_per_minute: 20, scopes: minting });
    const second = await mintToken(api.as(first.text), { rate_limit_per_minute: 5, scopes: minting });
    const thirds = [await mintToken(api.as(second.text)), await mintToken(api.as(second.text))];
    const sibling = await mintToken(api.as(first.text));
    freeze();
    const count = async (token: string, requests: number) => {
      const answers = [];
      for (let i = 0; i < requests; i++) answers.push((await api.fetch('/api/v1/me', { token })).status);
      return answers.filter((status) => status === 200).length;
    };
    // Five of the second and its two, whoever comes first; twenty of all.
    expect([await count(thirds[0]?.text ?? '', 3), await count(thirds[1]?.text ?? '', 3), await count(second.text, 3)]).toEqual([3, 2, 0]);
    expect([await count(sibling.text, 10), await count(first.text, 10), await count(sibling.text, 1)]).toEqual([10, 5, 0]);
    const refusal = await api.fetch('/api/v1/me', { token: sibling.text });
    expect([refusal.status, ((await refusal.json()) as { detail: string }).detail]).toEqual([
      429,
      'This credential and the one that minted it may make 20 requests a minute together.',
    ]);
  });

  it('holds over two processes and many requests at once, and counts each credential by itself', async () => {
    const [busy, idle] = [
      await mintKey(world.owner.client, { rate_limit_per_minute: 100 }),
      await mintKey(world.owner.client, { rate_limit_per_minute: 100 }),
    ];
    freeze();
    const requests = Array.from({ length: 160 }, (_, i) => (i % 2 ? api : second).fetch('/api/v1/me', { token: busy.text }));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length]).toEqual([100, 60]);
    for (const server of [api, second]) {
      expect((await server.fetch('/api/v1/me', { token: busy.text })).status).toBe(429);
      expect((await server.fetch('/api/v1/me', { token: idle.text })).status).toBe(200);
    }
  });

  it('counts refused requests too, but not those of nobody', async () => {
    const { text } = await mintKey(world.owner.client, { rate_limit_per_minute: 2, scopes: ['keys:read'] });
    freeze();
    expect((await api.fetch('/api/v1/workbooks', { token: text })).status).toBe(403);
    expect((await api.fetch('/api/v1/workbooks/x', { token: text })).status).toBe(403);
    expect((await api.fetch('/api/v1/me', { token: text })).status).toBe(429);
    expect((await api.fetch('/api/v1/me', { token: `${text.slice(0, -1)}_` })).status).toBe(401);
  });

  it('is 600 for the sessions of a user together', async () => {
    const answer = await api.fetch('/api/v1/me', { token: world.stranger.session });
    expect(answer.headers.get('ratelimit-policy')).toBe('"credential";q=600;w=60');
    await api.sql.query(
      `INSERT INTO rate_windows (subject, minute, leased) VALUES ($1, extract(epoch FROM now())::int / 60 + 5, 600)
       ON CONFLICT (subject) DO UPDATE SET minute = excluded.minute, leased = excluded.leased`,
      [world.stranger.userId],
    );
    const login = await api.as().POST('/api/auth/login', { body: { email: world.stranger.email, password: world.stranger.password } });
    // A process that has handed out nothing yet to this user.
    const fresh = await api.another();
    expect((await fresh.fetch('/api/v1/me', { token: ok(login).session_token })).status).toBe(429);
    await api.sql.query('DELETE FROM rate_windows WHERE subject = $1', [world.stranger.userId]);
  });

  it('is switched off by SVC_RATE_LIMITS=off', async () => {
    const open = await api.another({ SVC_RATE_LIMITS: 'off' });
    const { text } = await mintKey(world.owner.client, { rate_limit_per_minute: 1 });
    const answers = await Promise.all(Array.from({ length: 5 }, () => open.fetch('/api/v1/me', { token: text })));
    expect(answers.map(({ status, headers }) => [status, headers.get('ratelimit')])).toEqual(Array(5).fill([200, null]));
  });
});
