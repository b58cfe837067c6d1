import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadContract } from '../../api/http/contract.ts';
import { connectTo, createTestDatabase, ok, type TestServer } from '../setup/api.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';
import { openSql } from '../setup/everybody.ts';
import { makeForm } from './forms.ts';

/** At the most talkative level, after all kinds of requests: nothing in the log that someone has sent or been given. */

const secret = 'master-secret-of-the-log-test-0123456789';
const password = 'password-of-the-log-test';
const mark = 'MARKED';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let api: ApiProcess;
let server: Pick<TestServer, 'as' | 'fetch'>;
let sql: pg.Pool;
const told: Record<string, string> = { secret, password, mark };

beforeAll(async () => {
  database = await createTestDatabase();
  sql = openSql(database.url, 2);
  told['database password'] = new URL(database.url).password;
  api = await startApiProcess({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    SVC_SECRET: secret,
    SVC_LOG_LEVEL: 'trace',
  });
  server = connectTo(api.url, await loadContract());
});
afterAll(async () => {
  await api.stop();
  await sql.end();
  await database.drop();
});

const isInPath = (output: string, at: number) => /"path":"[^"]*$/.test(output.slice(Math.max(0, at - 400), at));

const json = { 'Content-Type': 'application/json' };

describe('the log', () => {
  it('is fed with good requests, bad ones and accidents', async () => {
    const email = `${mark}@example.com`;
    const person = ok(await server.as().POST('/api/auth/signup', { body: { email, password, name: `${mark} Name` } }));
    told.session = person.session_token;
    const client = server.as(person.session_token);
    const minted = ok(await client.POST('/api/v1/me/tokens', { body: { name: `${mark} token`, scopes: ['workbooks:write'] } }));
    told.token = minted.token;
    const key = ok(
      await client.POST('/api/control/account/keys', { body: { name: mark, scopes: ['keys:read'], rate_limit_per_minute: 600 } }),
    );
    told.key = key.key;
    const token = minted.token;
    const keyed = { ...json, 'Idempotency-Key': `${mark}-idempotency` };

    await server.as().POST('/api/auth/login', { body: { email, password } });
    await server.as().POST('/api/auth/login', { body: { email, password: `${mark} wrong password` } });
    await server.fetch('/api/v1/workbooks', { method: 'POST', token, headers: keyed, body: `{"title":"${mark} title"}` });
    await server.fetch('/api/v1/workbooks', { method: 'POST', token, headers: keyed, body: `{"title":"${mark} title"}` });
    await server.fetch('/api/v1/workbooks', { method: 'POST', token, headers: keyed, body: `{"title":"${mark} other"}` });
    await server.fetch('/api/v1/workbooks', { method: 'POST', token, headers: json, body: `{"title":"${mark}` });
    await server.fetch('/api/v1/workbooks', { method: 'POST', token, headers: json, body: `{"${mark}":"${mark}"}` });
    await server.fetch('/api/v1/workbooks', { method: 'POST', token, headers: { 'Content-Type': `text/${mark}` }, body: mark });
    await server.fetch(`/api/v1/workbooks?workspace_id=${mark}`, { token });
    await server.fetch(`/api/v1/workbooks?${mark}=1`, { token });
    await server.fetch(`/api/v1/workbooks/${mark}`, { token });
    await server.fetch(`/api/v1/me?token=${token}`, { token: `${token}x` });
    await server.fetch('/api/v1/me', { token: `svc_pat_${mark}` });
    await server.fetch('/api/v1/me', { token: `${person.session_token.slice(0, -4)}${mark}`, headers: { 'X-Request-Id': mark } });
    await fetch(`${api.url}/${mark}`);
    await fetch(`${api.url}/%zz${mark}`);
    await fetch(`${api.url}/api/v1/${token}/x`);
    await client.POST('/api/auth/logout');
  });

  it('is fed with files, good and bad, and with slots for them', async () => {
    const token = told.token ?? '';
    const made = await server.fetch('/api/v1/workbooks', { method: 'POST', token, headers: json, body: '{"title":"files"}' });
    const sources = `/api/v1/workbooks/${((await made.json()) as { id: string }).id}/sources`;
    const send = (name: string, content: string, fields: Record<string, string> = { mode: 'staged' }) =>
      server.fetch(sources, { method: 'POST', token, body: makeForm({ fields, files: [{ name, content }] }) });
    expect((await send(`${mark}.csv`, `${mark},b\n${mark},2\n`)).status).toBe(201);
    expect((await send(`${mark}.xlsx`, `${mark},b\n`)).status).toBe(415);
    expect((await send(`${mark}.csv`, `${mark},c\n`, { [mark]: mark })).status).toBe(422);
    const torn = { 'Content-Type': `multipart/form-data; boundary=${mark}` };
    expect((await server.fetch(sources, { method: 'POST', token, headers: torn, body: mark })).status).toBe(400);
    await server.fetch(`${sources}/${mark}.csv/preview?sheet=${mark}`, { token });
    await server.fetch(`${sources}/${mark}.csv/preview`, { token });
    await (await server.fetch(`${sources}/${mark}.csv/download`, { token })).arrayBuffer();

    const opened = await server.fetch(sources.replace('/sources', '/uploads'), {
      method: 'POST',
      token,
      headers: json,
      body: `{"filename":"${mark}.csv","mode":"staged"}`,
    });
    const { upload_url } = (await opened.json()) as { upload_url: string };
    told.signature = new URL(upload_url).searchParams.get('sig') ?? '';
    const address = upload_url.replace(/^https?:\/\/[^/]+/, '');
    expect((await server.fetch(`${address}${mark}`, { method: 'PUT', body: mark })).status).toBe(403);
    expect((await server.fetch(address, { method: 'PUT', body: `${mark},d\n` })).status).toBe(200);
  });

  it('is fed with an accident inside, whose message quotes a value', async () => {
    await sql.query(`ALTER TABLE workbooks ADD CONSTRAINT no_mark CHECK (title NOT LIKE '${mark} accident%')`);
    const answer = await server.fetch('/api/v1/workbooks', {
      method: 'POST',
      token: told.token ?? '',
      headers: json,
      body: `{"title":"${mark} accident"}`,
    });
    expect(answer.status).toBe(500);
    await sql.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'workbook-data-service' AND datname = current_database()",
    );
    await server.fetch('/api/v1/me', { token: told.token ?? '' });
  });

  it('has a line for each request, with its id, its operation and its outcome', async () => {
    const answer = await server.fetch('/api/v1/me', { token: told.token ?? '' });
    await expect.poll(() => api.output()).toContain(answer.headers.get('x-request-id'));
    const lines = api
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.at(-1)).toMatchObject({
      part: 'api',
      operation: 'getMe',
      status: 200,
      ms: expect.any(Number),
      credential: expect.stringMatching(/^tok_/),
    });
    expect(lines.filter(({ msg }) => msg === 'answered').length).toBeGreaterThan(20);
    expect(lines).toContainEqual(
      expect.objectContaining({ code: 'idempotency-mismatch', status: 422, method: 'POST', path: '/api/v1/workbooks' }),
    );
    const refused = lines.filter(({ msg, status }) => msg === 'answered' && Number(status) >= 400);
    for (const line of refused)
      expect(line).toMatchObject({ method: expect.stringMatching(/^[A-Z]+$/), path: expect.stringMatching(/^\//) });
    expect(refused.length).toBeGreaterThan(10);
    expect(lines.find(({ msg }) => msg === 'request failed')).toMatchObject({
      operation: 'createWorkbook',
      cause: { constraint: 'no_mark' },
    });
  });

  it('holds no secret, token, password, header, query or value', () => {
    // The path of a refused request may name things.
    const output = api.output().replaceAll(mark, (_, at: number) => (isInPath(api.output(), at) ? '' : mark));
    const found = Object.entries(told).flatMap(([what, text]) => {
      expect(text.length).toBeGreaterThan(5);
      // A token is recognised by its secret part as well.
      return [text, text.slice(-20)].some((part) => output.includes(part)) ? [what] : [];
    });
    expect(found).toEqual([]);
  });
});
