import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { askRaw } from './rawRequest.ts';

/** `If-Match` counts as `expected_version`, and is never passed over. */

let api: TestApi;
let person: Person;
let workbook: string;
let table: string;
let version: number;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  person = await api.signUp();
  workbook = `/api/v1/workbooks/${((await send('POST', '/api/v1/workbooks', {}, { title: 't' })).body as { id: string }).id}`;
});
afterAll(() => api.stop());

beforeEach(async () => {
  table = `${workbook}/tables/t${randomUUID().slice(0, 8)}`;
  await send('POST', `${workbook}/tables`, {}, { name: table.split('/').at(-1), columns: [{ name: 'a' }, { name: 'b' }] });
  await send('POST', `${table}/rows`, {}, { expected_version: 1, rows: [{ a: 'x' }, { a: 'y' }] });
  version = 2;
});

async function send(method: string, path: string, headers: Record<string, string>, body?: unknown) {
  const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const answer = await askRaw(
    `${api.url}${path}`,
    { Authorization: `Bearer ${person.session}`, ...type, ...headers },
    method,
    body === undefined ? undefined : JSON.stringify(body),
  );
  const text = String(answer.bytes);
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>) };
}

/** Every write that takes `expected_version`, without it. */
const writes: Record<string, () => [method: string, path: string, body?: unknown]> = {
  upsertRows: () => ['POST', `${table}/rows`, { rows: [{ a: 'z' }] }],
  deleteRows: () => ['POST', `${table}/rows/delete`, { row_ids: [1] }],
  writeRange: () => ['PUT', `${table}/range`, { range: 'A2', values: [['w']] }],
  addColumn: () => ['POST', `${table.replace('/tables/', '/artifacts/')}/columns`, { column: 'c' }],
  alterColumn: () => ['PATCH', `${table.replace('/tables/', '/artifacts/')}/columns/a`, { new_name: 'd' }],
  dropColumn: () => ['DELETE', `${table.replace('/tables/', '/artifacts/')}/columns/b`],
  deleteTable: () => ['DELETE', table],
};

describe.each(Object.keys(writes))('%s', (name) => {
  const write = (headers: Record<string, string>) => {
    const [method, path, body] = (writes[name] as (typeof writes)[string])();
    return send(method, path, headers, body);
  };

  it('goes by the ETag of a reading, whatever coding it came in', async () => {
    const { etag } = (await send('GET', `${table}/rows`, {})).headers;
    expect(etag).toMatch(/^"2-/);
    expect((await write({ 'If-Match': `${etag?.slice(0, -1)}-br"` })).status).toBeLessThan(300);
    expect((await write({ 'If-Match': etag ?? '' })).status).toBe(name === 'deleteTable' ? 404 : 409);
  });

  it('goes by the version in quotes, and by * as by null', async () => {
    expect((await write({ 'If-Match': '"1"' })).body).toMatchObject({ type: 'urn:svc:problem:version-conflict', current_version: version });
    expect((await write({ 'If-Match': '*' })).status).toBeLessThan(300);
  });

  it('is refused without either, and by what is not one strong tag of a table', async () => {
    for (const header of ['W/"2"', '"2", "3"', '2', 'nonsense', '""', '"abc"', 'W/"2-0f"'])
      expect([header, (await write({ 'If-Match': header })).body]).toMatchObject([
        header,
        { type: 'urn:svc:problem:validation-failed', errors: [{ pointer: '/header/If-Match' }] },
      ]);
    expect((await write({})).status).toBe(422);
    expect((await send('GET', `${table}/rows`, {})).body).toMatchObject({ edit_version: version, row_count: 2 });
  });
});

describe('with expected_version, too', () => {
  it.each([
    [2, '"2"', 200],
    [1, '"1"', 409],
    [2, '"1"', 422],
    [null, '"2"', 422],
    [2, '*', 422],
    [null, '*', 200],
  ])('%s and %s is %s', async (expected_version, header, status) => {
    expect((await send('POST', `${table}/rows`, { 'If-Match': header }, { expected_version, rows: [{ a: 'z' }] })).status).toBe(status);
  });

  it('in an address is the same', async () => {
    expect((await send('DELETE', `${table}?expected_version=1`, { 'If-Match': '"2"' })).status).toBe(422);
    expect((await send('DELETE', `${table}?expected_version=2`, { 'If-Match': '"2"' })).status).toBe(204);
  });
});

it('counts for rows that are appended, and not for new tables', async () => {
  const materialize = (target: object, headers: Record<string, string>) =>
    send('POST', `${workbook}/sources/nothing/materialize`, headers, { target });
  const append = { mode: 'append', table: table.split('/').at(-1) };
  expect((await materialize(append, {})).status).toBe(422);
  // What is asked for is complete; the source is not there.
  expect((await materialize(append, { 'If-Match': '"2"' })).status).toBe(404);
  expect((await materialize({ mode: 'new' }, { 'If-Match': '"2"' })).body).toMatchObject({ errors: [{ pointer: '/header/If-Match' }] });
});

it('is refused where no version is checked', async () => {
  for (const [method, path, body] of [
    ['GET', `${table}/rows`],
    ['PATCH', workbook, { title: 'other' }],
    ['POST', `${workbook}/versions`, { label: randomUUID() }],
  ] as const)
    expect([path, (await send(method, path, { 'If-Match': '"2"' }, body)).status]).toEqual([path, 422]);
});

it('is part of a request that is repeated', async () => {
  const key = { 'Idempotency-Key': randomUUID() };
  const rows = { rows: [{ a: 'once' }] };
  const first = await send('POST', `${table}/rows`, { ...key, 'If-Match': '"2"' }, rows);
  const again = await send('POST', `${table}/rows`, { ...key, 'If-Match': '"2"' }, rows);
  expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([200, 200, 'true']);
  expect((await send('POST', `${table}/rows`, { ...key, 'If-Match': '"3"' }, rows)).body?.type).toBe(
    'urn:svc:problem:idempotency-mismatch',
  );
});

it('goes on from one write to the next by the ETag of each', async () => {
  let etag = (await send('GET', table, {})).headers.etag ?? '';
  for (const a of ['1', '2', '3']) {
    const { status, headers } = await send('POST', `${table}/rows`, { 'If-Match': etag }, { rows: [{ a }] });
    expect(status).toBe(200);
    etag = headers.etag ?? '';
  }
  expect(etag).toBe('"5"');
});
