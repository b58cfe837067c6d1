import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, startTestApi, type TestApi } from '../setup/api.ts';

/** The session of the console: a cookie that is taken from the console's own page alone. */

let api: TestApi;
let person: Person;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off', SVC_CORS_ORIGINS: '*' });
  person = await api.signUp();
});
afterAll(() => api.stop());

const page = { 'X-SVC-Console': '1', 'Sec-Fetch-Site': 'same-origin' };

const logIn = (headers: Record<string, string>, credentials = { email: person.email, password: person.password }) =>
  api.fetch('/api/auth/console', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(credentials),
  });

async function openSession(): Promise<string> {
  const [cookie = ''] = ((await logIn(page)).headers.get('set-cookie') ?? '').split(';');
  return cookie;
}

const makeWorkbook = (headers: Record<string, string>) =>
  api.fetch('/api/v1/workbooks', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: '{"title": "By cookie"}',
  });

describe('openConsoleSession', () => {
  it('sets a cookie that scripts and other sites cannot use, and tells no token', async () => {
    const answer = await logIn(page);
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^svc_console=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/api; Expires=/);
    const body = (await answer.json()) as Record<string, unknown>;
    expect(Object.keys(body).sort()).toEqual(['expires_at', 'user']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('asks for an encrypted connection where the service has one', async () => {
    const other = await api.another({ SVC_PUBLIC_URL: 'https://tables.example.com' });
    const answer = await other.fetch('/api/auth/console', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...page, Origin: 'https://tables.example.com' },
      body: JSON.stringify({ email: person.email, password: person.password }),
    });
    expect(answer.headers.get('set-cookie')).toContain('; Secure');
    await other.stop();
  });

  it('refuses another page, so that nobody is logged in as somebody else unnoticed', async () => {
    expect((await logIn({})).status).toBe(401);
    expect((await logIn({ ...page, 'Sec-Fetch-Site': 'cross-site' })).headers.get('set-cookie')).toBeNull();
  });
});

describe('the cookie', () => {
  it('is a session for the page, until it is closed', async () => {
    const Cookie = await openSession();
    expect((await makeWorkbook({ Cookie, ...page })).status).toBe(201);
    const control = await api.fetch('/api/control/account', { headers: { Cookie: `other=1; ${Cookie}`, ...page } });
    expect(control.status).toBe(200);
    const closed = await api.fetch('/api/auth/console', { method: 'DELETE', headers: { Cookie, ...page } });
    expect([closed.status, closed.headers.get('set-cookie')]).toEqual([204, expect.stringMatching(/^svc_console=; .*Max-Age=0/)]);
    expect((await makeWorkbook({ Cookie, ...page })).status).toBe(401);
  });

  it.each([
    ['a form of another page', {}],
    ['a page of another site that sets the header', { 'X-SVC-Console': '1', 'Sec-Fetch-Site': 'cross-site' }],
    ['a page of a neighbour', { 'X-SVC-Console': '1', 'Sec-Fetch-Site': 'same-site' }],
    ['an old browser on another page', { 'X-SVC-Console': '1', Origin: 'https://evil.example.com' }],
    ['a page without an origin', { 'X-SVC-Console': '1', Origin: 'null' }],
    ['somebody who opens a link', { 'Sec-Fetch-Site': 'none' }],
  ])('is not taken from %s', async (_, headers) => {
    const Cookie = await openSession();
    const read = await api.fetch('/api/v1/me', { headers: { Cookie, ...headers } });
    expect([read.status, (await makeWorkbook({ Cookie, ...headers })).status]).toEqual([401, 401]);
    expect(((await read.json()) as { detail: string }).detail).toContain('from its own page only');
  });

  it('is taken where the browser names this origin', async () => {
    const Cookie = await openSession();
    expect((await makeWorkbook({ Cookie, 'X-SVC-Console': '1', Origin: api.url })).status).toBe(201);
  });

  it('is not looked at beside a token', async () => {
    const other = await api.signUp();
    const Cookie = await openSession();
    const me = await api.fetch('/api/v1/me', { headers: { Cookie }, token: other.session });
    expect(await me.json()).toMatchObject({ user: { id: other.userId } });
  });

  it('is allowed to no other origin, also where any may call', async () => {
    const answer = await fetch(`${api.url}/api/v1/me`, { headers: { Origin: 'https://evil.example.com' } });
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

// Last, because from then on nobody of this address gets in.
describe('openConsoleSession: bad tries', () => {
  it('are counted as those of logIn are', async () => {
    const stranger = await api.signUp();
    for (let i = 0; i < 5; i++) expect((await logIn(page, { email: stranger.email, password: 'wrong one' })).status).toBe(401);
    expect((await logIn(page, { email: stranger.email, password: stranger.password })).status).toBe(429);
  });
});
