import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadContract } from '../../api/http/contract.ts';
import { encodeCursor } from '../../core/paging.ts';
import type { TestApi } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { makeSample, sendSample } from './samples.ts';
import { makeWorld, startWorkingApi, unknownId, type World } from './world.ts';

/** Whatever is sent: a problem document, nothing changed, nothing told of our insides. */

const operations = (await loadContract()).operations;

let api: TestApi;
let world: World;
let before: string;

beforeAll(async () => {
  api = await startWorkingApi();
  world = await makeWorld(api);
  before = await fingerprint();
});
afterAll(async () => {
  await api.stop();
});

/** Counted and measured with every request, whatever it asks for; and what the worker delivers meanwhile. */
const volatile = ['request_counts', 'rate_windows', 'login_attempts', 'deliveries'];

/** Of everything that a request could have changed. */
async function fingerprint(): Promise<string> {
  const tables = await api.sql.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  // Events get their places, and webhooks are attended to, some moments after the request.
  const digests = tables.rows
    .filter(({ name }) => !volatile.includes(name))
    .map(
      ({ name }) =>
        `(SELECT md5(coalesce(string_agg(r, '|' ORDER BY r), '')) FROM (SELECT (to_jsonb(t) - '{position,wanted_at,attended_until}'::text[])::text AS r FROM "${name}" t))`,
    );
  const { rows } = await api.sql.query<{ print: string }>(`SELECT concat_ws(' ', ${digests.join(', ')}) AS print`);
  return rows[0]?.print ?? '';
}

async function expectRefused(answer: Response, statuses: number[]): Promise<Record<string, unknown>> {
  const text = await answer.text();
  expect([answer.status, text]).toEqual([expect.toBeOneOf(statuses), expect.any(String)]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(text).not.toMatch(/\bat .+:\d+:\d+\)?|\.ts\b|node_modules|node:internal|SELECT .+ FROM |INSERT INTO |invalid byte|stack/i);
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(problem).toMatchObject({
    type: expect.stringMatching(/^urn:svc:problem:/),
    suggested_fix: expect.any(String),
    detail: expect.any(String),
  });
  expect(problem.instance).toBe(answer.headers.get('x-request-id'));
  expect(await fingerprint()).toBe(before);
  return problem;
}

const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  api.fetch(path, {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: body as NonNullable<RequestInit['body']>,
  });
const patchTeam = (body: string) =>
  api.fetch(`/api/control/workspaces/${world.team}`, {
    method: 'PATCH',
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json' },
    body,
  });
const get = (path: string) => api.fetch(path, { token: world.owner.session });
const nested = (levels: number, inner = '1') => `${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`;

describe('a body that is not JSON', () => {
  it.each([
    ['{"title": NaN}', 'JSON has no NaN (line 1, column 11)', '/title'],
    ['{"title": "x",\n "of": [1, {"a/b": -Infinity}]}', 'JSON has no -Infinity (line 2, column 20)', '/of/1/a~1b'],
    ['{"title": None}', 'JSON has no None (line 1, column 11)', '/title'],
    ['{"title": undefined}', 'JSON has no undefined (line 1, column 11)', '/title'],
    ["{'title': 1}", 'this is no JSON value (line 1, column 2)', ''],
    ['{"title": "x",}', 'a name in double quotes is missing (line 1, column 15)', ''],
    ['{"title": "x"', 'a closing brace is missing (line 1, column 14)', '/title'],
    ['{"title": "x" "y": 1}', 'a comma is missing (line 1, column 15)', '/y'],
    ['{"title": 01}', 'a comma is missing (line 1, column 12)', '/title'],
    ['{"title": 1.}', 'the number is not finished (line 1, column 11)', '/title'],
    ['{"title": "a\nb"}', 'the text does not end on its line (line 1, column 11)', '/title'],
    ['{"title": "\\x"}', 'JSON has no such escape (line 1, column 11)', '/title'],
    ['{} {}', 'something follows the end (line 1, column 4)', ''],
    ['// x\n{}', 'JSON has no comments (line 1, column 1)', ''],
    ['title=x', 'this is no JSON value (line 1, column 1)', ''],
  ])('%j is refused with what is wrong and where', async (body, detail, pointer) => {
    const problem = await expectRefused(await post('/api/v1/workbooks', body), [400]);
    expect(problem.errors).toEqual([{ pointer, detail }]);
    expect(problem.detail).toContain(detail.replace(/\)$/, ''));
  });

  it('is refused without repeating it', async () => {
    const problem = await expectRefused(await post('/api/auth/login', '{"email": "a@b.c", "password": geheim}'), [400]);
    expect(JSON.stringify(problem)).not.toContain('geheim');
  });
});

describe('a body', () => {
  it.each([
    ['nothing at all', '', [422]],
    ['half an object', '{"title": "x"', [400]],
    ['a trailing comma', '{"title": "x",}', [400]],
    ['two documents', '{"title": "x"}{"title": "y"}', [400]],
    ['not a number', '{"title": NaN}', [400]],
    ['a text', '"title"', [422]],
    ['null', 'null', [422]],
    ['a list', '[{"title":"x"}]', [422]],
    ['a number for a text', '{"title": 5}', [422]],
    ['an object for a text', '{"title": {"$ne": ""}}', [422]],
    ['an empty title', '{"title": ""}', [422]],
    ['an over-long title', `{"title": "${'字'.repeat(201)}"}`, [422]],
    ['an unknown field', '{"title": "x", "tilte": "y"}', [422]],
    ['a value that is not one of the few', '{"title": "x", "visibility": "public"}', [422]],
    ['__proto__', '{"title": "x", "__proto__": {"admin": true}}', [422]],
    ['constructor', '{"title": "x", "constructor": {"prototype": {"admin": true}}}', [422]],
    ['U+0000', '{"title": "a\\u0000b"}', [422]],
    ['a lone surrogate', '{"title": "a\\ud800b"}', [422]],
    ['a lone low surrogate', '{"title": "a\\uDC00b"}', [422]],
    ['U+0000 in an unknown key', '{"title": "x", "\\u0000": 1}', [422]],
    ['someone else’s workspace', `{"title": "x", "workspace_id": "${unknownId('ws')}"}`, [403]],
    ['an id with quotes', '{"title": "x", "workspace_id": "ws_\'; DROP TABLE workbooks; --"}', [403]],
    ['100,000 levels', nested(100_000), [400, 422]],
    ['100,000 levels of lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, [400, 422]],
    ['100,000 levels and a bad character', nested(100_000, '"\\u0000"'), [400, 422]],
  ])('with %s is refused', async (_, body, statuses) => {
    await expectRefused(await post('/api/v1/workbooks', body as string), statuses as number[]);
  });

  it('that is not UTF-8 is refused', async () => {
    await expectRefused(await post('/api/v1/workbooks', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])), [400]);
    await expectRefused(await post('/api/v1/workbooks', Buffer.from('{"title":"x"}', 'utf16le')), [400]);
  });

  it('of another type, or of none, is refused', async () => {
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/json-patch+json', ''])
      await expectRefused(await post('/api/v1/workbooks', '{"title":"x"}', { 'Content-Type': type }), [415]);
  });

  it('that claims to be compressed is refused', async () => {
    await expectRefused(await post('/api/v1/workbooks', new Uint8Array([0x1f, 0x8b, 8, 0]), { 'Content-Encoding': 'gzip' }), [400, 415]);
  });

  it.each([
    ['100,000 levels', `{"idp_config": ${nested(100_000)}}`],
    ['100,000 levels of lists', `{"idp_config": {"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}}`],
    ['a bad character 20,000 levels down', `{"idp_config": ${nested(20_000, '"\\u0000"')}}`],
    ['an over-long text', `{"preprocess_rules": "${'x'.repeat(2001)}"}`],
  ])('that is free inside, with %s, is refused', async (_, body) => {
    await expectRefused(await patchTeam(body), [400, 413, 422]);
  });

  it.each(['{"actor":"佐藤"}', '{', '[1]', ' '.repeat(70_000).concat('x')])(
    'where none is taken is refused, not ignored: %#',
    async (body) => {
      const problem = await expectRefused(await post(`/api/v1/workbooks/${unknownId('wb')}/ops/1/undo`, body), [422]);
      expect(problem.detail).toBe('This operation takes no body.');
    },
  );

  it.each(['', '{}', ' null '])('where none is taken may be empty: %j', async (body) => {
    await expectRefused(await post(`/api/v1/workbooks/${unknownId('wb')}/ops/1/undo`, body), [404]);
  });

  it('cannot reach the prototype of anything', async () => {
    const given = '{"idp_config":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}';
    const answer = await patchTeam(given);
    expect(answer.status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(await answer.text()).toContain('"__proto__": {"polluted": true}'.replaceAll(': ', ':'));
    before = await fingerprint();
  });

  it.each([['1e999'], ['-1'], ['0'], ['10001'], ['1.5'], ['9007199254740993'], ['"600"'], ['true'], ['1e3000000']])(
    'with the number %s is refused',
    async (value) => {
      await expectRefused(
        await post('/api/control/account/keys', `{"scopes": ["workbooks:read"], "rate_limit_per_minute": ${value}}`),
        [422],
      );
    },
  );

  it('with fifty things wrong says all of them, and no more than fifty', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field${i}`, i]));
    const problem = await expectRefused(await post('/api/v1/workbooks', JSON.stringify(unknown)), [422]);
    expect((problem.errors as unknown[]).length).toBe(50);
  });
});

describe('a body that is too large', () => {
  const huge = 33 * 1024 * 1024;

  it('is refused when it is sent in full', async () => {
    await expectRefused(await post('/api/v1/workbooks', new Uint8Array(huge).fill(0x20)), [413]);
  });

  it('is refused when its length is not announced', async () => {
    const answer = await new Promise<Response>((resolve, reject) => {
      const request = httpRequest(`${api.url}/api/v1/workbooks`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${world.owner.session}`, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
      });
      request.on('response', async (response) => {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part as Buffer);
        resolve(new Response(Buffer.concat(parts), { status: response.statusCode, headers: response.headers as Record<string, string> }));
      });
      request.on('error', reject);
      const piece = Buffer.alloc(1024 * 1024, 0x20);
      for (let sent = 0; sent < huge; sent += piece.length) request.write(piece);
      request.end();
    });
    await expectRefused(answer, [413]);
  });

  it('is refused sooner from someone who has shown no credential', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(70_000) });
    const answer = await api.fetch('/api/auth/signup', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    await expectRefused(answer, [413]);
  });
});

describe('a query', () => {
  it.each([
    ['an unknown parameter', 'lmit=5', [422]],
    ['a limit of 0', 'limit=0', [422]],
    ['a limit of 1001', 'limit=1001', [422]],
    ['a limit that is no number', 'limit=five', [422]],
    ['a huge limit', 'limit=1e400', [422]],
    ['half a limit', 'limit=1.5', [422]],
    ['an empty limit', 'limit=', [422]],
    ['the same parameter twice', 'limit=5&limit=6', [422]],
    ['the cursor twice', 'cursor=a&cursor=b', [422]],
    ['brackets', 'limit[]=5', [422]],
    ['a cursor that is none', 'cursor=abc', [422]],
    ['a cursor with bad percents', 'cursor=%zz', [422]],
    ['a cursor that is no list', `cursor=${Buffer.from('{"a":1}').toString('base64url')}`, [422]],
    ['a cursor with U+0000 inside', `cursor=${encodeCursor(['\u0000'])}`, [422]],
    ['a cursor with a lone surrogate inside', `cursor=${encodeCursor(['\ud800'])}`, [422]],
    ['U+0000', 'workspace_id=a%00b', [422]],
    ['an over-long id', `workspace_id=${'x'.repeat(201)}`, [422]],
    ['an unreachable workspace', `workspace_id=${unknownId('ws')}`, [403]],
    ['__proto__', '__proto__=1', [422]],
    ['__proto__ with brackets', '__proto__[admin]=1', [422]],
  ])('with %s is refused', async (_, query, statuses) => {
    await expectRefused(await get(`/api/v1/workbooks?${query}`), statuses as number[]);
  });

  it.each([[-1], [1.5], [1e300], [Number.MAX_SAFE_INTEGER + 1]])(
    'of the audit log with a cursor of %d is refused or empty',
    async (seq) => {
      const answer = await get(`/api/v1/workbooks/${world.workbook}/audit-log?cursor=${encodeCursor([seq])}`);
      expect([answer.status, await answer.text()]).toEqual([expect.toBeOneOf([200, 422]), expect.any(String)]);
    },
  );

  it('with the cursor of another list is refused', async () => {
    await Promise.all([mintToken(world.owner.client), mintToken(world.owner.client)]);
    before = await fingerprint();
    const tokens = (await (await get('/api/v1/me/tokens?limit=1')).json()) as { next_cursor: string };
    await expectRefused(await get(`/api/v1/workbooks?cursor=${tokens.next_cursor}`), [422]);
  });
});

describe('a path', () => {
  it.each([
    ['a bad percent', '/api/v1/workbooks/%zz', [400]],
    ['half a character', '/api/v1/workbooks/%E3%81', [400]],
    ['an overlong encoding', '/api/v1/workbooks/%C0%AF', [400]],
    ['an encoded surrogate', '/api/v1/workbooks/%ED%A0%80', [400]],
    ['U+0000', '/api/v1/workbooks/wb_%00', [400]],
    ['an id of another kind', `/api/v1/workbooks/${unknownId('ws')}`, [404]],
    ['quotes', "/api/v1/jobs/'%20OR%201=1--", [404]],
    ['an over-long id', `/api/v1/workbooks/${'x'.repeat(500)}`, [404, 422]],
    ['an encoded slash', '/api/v1/workbooks/a%2Fb', [404]],
    ['dots', '/docs/..%2f..%2fpackage.json', [404]],
    ['a double slash', '//api/v1/me', [404]],
  ])('with %s is refused', async (_, path, statuses) => {
    const answer = await fetch(`${api.url}${path}`, { headers: { Authorization: `Bearer ${world.owner.session}` } });
    await expectRefused(answer, statuses as number[]);
  });

  // A provider of drives belongs to nobody.
  it.each(operations.filter(({ path, accepts }) => /\{(?!provider)/.test(path) && accepts.length > 0))(
    'to what belongs to other people is 404: $id',
    async (operation) => {
      const sample = await makeSample(world, operation);
      before = await fingerprint();
      const answer = await sendSample(world, operation, { ...sample, token: world.stranger.session });
      const problem = await expectRefused(answer, [404]);
      expect(problem.type).toBe('urn:svc:problem:not-found');
    },
  );
});

describe('a header', () => {
  it.each([
    ['an over-long key', { 'Idempotency-Key': 'x'.repeat(256) }],
    ['a key that is not ASCII', { 'Idempotency-Key': 'caf\u00e9' }],
    ['a key with a tab', { 'Idempotency-Key': 'a\tb' }],
  ])('with %s is refused', async (_, headers) => {
    await expectRefused(await post('/api/v1/workbooks', '{"title":"x"}', headers as Record<string, string>), [422]);
  });

  it.each(['Bearer', 'Bearer ', 'Basic abc', 'bearer  a b', `Bearer ${'x'.repeat(5000)}`, 'Bearer svc_pat_', "Bearer ' OR 1=1"])(
    'Authorization: %.30s is refused',
    async (value) => {
      await expectRefused(await api.fetch('/api/v1/me', { headers: { Authorization: value } }), [401]);
    },
  );

  it('cannot choose the request id, nor bring a line of its own into the answer', async () => {
    const answer = await api.fetch('/api/v1/me', {
      token: world.owner.session,
      headers: { 'X-Request-Id': 'mine', 'X-Forwarded-For': '1.2.3.4\u00a0x' },
    });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
    const odd = await fetch(`${api.url}/api/v1/workbooks/a%0d%0aX-Injected:%20yes`, {
      headers: { Authorization: `Bearer ${world.owner.session}` },
    });
    expect(odd.headers.get('x-injected')).toBeNull();
    await expectRefused(odd, [404]);
  });

  it.each([
    ['a line break inside a value', 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n'],
    ['headers of 100 KB', `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`],
    ['two lengths', 'POST /api/v1/workbooks HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345'],
    [
      'a length and chunks',
      'POST /api/v1/workbooks HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no HTTP at all', 'hello there\r\n\r\n'],
  ])('block with %s is refused with a problem document', async (_, bytes) => {
    const text = await sendRaw(bytes);
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(text).toContain('application/problem+json');
    expect(text).not.toMatch(/node:internal|\.ts|at .*:\d+:\d+/);
  });
});

function sendRaw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}
