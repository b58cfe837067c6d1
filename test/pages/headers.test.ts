import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../store/config.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';

/** What browsers are told beside the answer: how to treat it, who may keep it, and which pages may ask. */

let api: TestApi;
let person: Person;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  person = await api.signUp();
});
afterAll(() => api.stop());

const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
};

const pick = (answer: Response, names: string[]) => Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]));

describe('headers of safety', () => {
  it.each([
    ['an answer', '/healthz', {}],
    ['a refusal', '/api/v1/me', {}],
    ['an unknown address', '/nothing', {}],
    ['an address that cannot be decoded', '/%ff', {}],
    ['another method', '/healthz', { method: 'PUT' }],
    ['the reference', '/docs', {}],
    ['a part of it', '/docs/swagger-ui.css', {}],
    ['a problem as a page', '/nothing', { headers: { Accept: 'text/html' } }],
    ['OPTIONS', '/healthz', { method: 'OPTIONS' }],
  ])('stand on %s', async (_, path, init) => {
    expect(pick(await fetch(`${api.url}${path}`, init), Object.keys(always))).toEqual(always);
  });

  it('stand on the answer to what is not HTTP', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write('nonsense\r\n\r\n'));
      let said = '';
      socket.on('data', (data) => {
        said += data;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(said));
    });
    expect(text).toContain('X-Content-Type-Options: nosniff');
  });
});

describe('caches', () => {
  const credentials = { email: '', password: '' };
  beforeAll(() => Object.assign(credentials, { email: person.email, password: person.password }));

  it.each([
    ['logIn', '/api/auth/login', () => credentials],
    ['createToken', '/api/v1/me/tokens', () => ({ name: 'kept nowhere' })],
    ['createKey', '/api/control/account/keys', () => ({ scopes: ['workbooks:read'] })],
  ])('keep no answer of %s', async (_, path, body) => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `kept nowhere ${path}` };
    for (const replayed of [null, 'true']) {
      const answer = await api.fetch(path, { method: 'POST', headers, body: JSON.stringify(body()), token: person.session });
      expect([answer.ok, answer.headers.get('idempotency-replayed')]).toEqual([true, replayed]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('keep no signed address', async () => {
    const workbookId = await makeWorkbook(person.client, '帳簿');
    const path = { workbook_id: workbookId };
    const slot = ok(await person.client.POST('/api/v1/workbooks/{workbook_id}/uploads', { params: { path }, body: { filename: 'a.csv' } }));
    const answer = await api.fetch(`/api/v1/uploads/${slot.upload_id}`, { token: person.session });
    expect(await answer.json()).toMatchObject({ upload_url: expect.stringContaining('sig=') });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('keep no data of anybody either', async () => {
    const answer = await api.fetch('/api/v1/me', { token: person.session });
    expect(answer.headers.get('cache-control')).toMatch(/no-store|private/);
  });
});

describe('OPTIONS', () => {
  it.each([
    ['/api/v1/workbooks', ['GET', 'HEAD', 'OPTIONS', 'POST']],
    ['/api/v1/workbooks/wb_x', ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH']],
    ['/healthz', ['GET', 'HEAD', 'OPTIONS']],
  ])('of %s says what is possible, to anybody', async (path, methods) => {
    const answer = await fetch(`${api.url}${path}`, { method: 'OPTIONS' });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(methods);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('of the whole server is not an address', async () => {
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(api.url);
      const sent = request({ hostname, port, path: '*', method: 'OPTIONS' }, (answer) => resolve(answer.resume().statusCode));
      sent.on('error', reject);
      sent.end();
    });
    expect(status).toBe(404);
  });

  it('of an address that is not there is 404', async () => {
    expect((await fetch(`${api.url}/nothing`, { method: 'OPTIONS' })).status).toBe(404);
  });
});

/** A request as a browser makes it for a page of another origin; `fetch` does not let us set all of these. */
function ask(
  url: string,
  origin: string,
  preflight?: { method: string; headers: string },
): Promise<{ status: number; headers: Record<string, unknown> }> {
  const asked = preflight && { 'Access-Control-Request-Method': preflight.method, 'Access-Control-Request-Headers': preflight.headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: preflight ? 'OPTIONS' : 'GET', headers: { Origin: origin, ...asked } }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('pages of other origins', () => {
  const app = 'https://app.example.com';
  const preflight = { method: 'PATCH', headers: 'authorization,content-type,idempotency-key,if-match' };
  const open: Record<string, string> = {};
  beforeAll(async () => {
    open.some = (await api.another({ SVC_CORS_ORIGINS: `${app}, http://localhost:5173` })).url;
    open.any = (await api.another({ SVC_CORS_ORIGINS: '*' })).url;
    open.none = api.url;
  });

  it.each([
    ['some', app, app],
    ['some', 'http://localhost:5173', 'http://localhost:5173'],
    ['some', 'https://evil.example.com', undefined],
    ['some', 'null', undefined],
    ['any', 'https://evil.example.com', '*'],
    ['none', app, undefined],
  ])('where %s are configured, %s is told %s', async (which, origin, allowed) => {
    const url = `${open[which]}/api/v1/workbooks`;
    const before = await ask(url, origin, preflight);
    expect([before.status, before.headers['access-control-allow-origin']]).toEqual([204, allowed]);
    expect(before.headers['access-control-allow-headers']).toBe(allowed && preflight.headers);
    expect(before.headers['access-control-allow-methods']).toEqual(allowed && expect.stringContaining('PATCH'));
    const answer = await ask(url, origin);
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, allowed]);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    if (which === 'some') expect(answer.headers.vary).toMatch(/Origin/);
  });

  it('may read the headers that the contract declares', async () => {
    const exposed = String((await ask(`${open.some}/healthz`, app)).headers['access-control-expose-headers']).split(',');
    expect(exposed).toEqual(expect.arrayContaining(['ETag', 'Location', 'Retry-After', 'X-Request-Id', 'Idempotency-Replayed']));
  });

  it.each(['https://app.example.com/', 'https://app.example.com/path', 'app.example.com', 'https://a.example,nonsense'])(
    'cannot be configured as %s',
    (origins) => {
      expect(() => loadConfig({ SVC_CORS_ORIGINS: origins })).toThrow(/SVC_CORS_ORIGINS must hold origins/);
    },
  );
});
