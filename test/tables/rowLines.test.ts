import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();
const lines = 'application/x-ndjson';

interface Answer {
  status: number;
  headers: Headers;
  body: { edit_version?: number; row_ids?: number[]; detail?: string; errors?: { pointer: string; detail: string }[] };
}

async function send(table: string, query: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await api.fetch(`/api/v1/workbooks/${world.workbookId}/tables/${table}/rows?${query}`, {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': lines, ...headers },
    body: body as NonNullable<RequestInit['body']>,
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] };
}

describe('upsertRows: lines of JSON', () => {
  it('are rows as in the JSON body, with the other fields in the query', async () => {
    const table = await world.makeTable('lines', [{ name: 'k' }, { name: 'n', type: 'BIGINT' }, { name: 'd', type: 'DECIMAL(30,10)' }]);
    const first = await send('lines', 'expected_version=1&actor=sato', '{"k":"a","n":1}\r\n\n  {"n":9007199254740991, "k":"b"} \n{}');
    expect(first).toMatchObject({ status: 200, body: { edit_version: 2, inserted: 3, row_ids: [1, 2, 3] } });
    expect((await world.ops({ limit: 1 })).ops[0]?.actor).toBe('sato');
    const keyed = await send('lines', 'expected_version=2&key=k', '{"k":"b","d":"12345678901234567890.0000000001"}\n{"k":"c"}\n');
    expect(keyed).toMatchObject({ status: 200, body: { inserted: 1, updated: 1, row_ids: [2, 4] } });
    const byId = await send('lines', 'expected_version=1&rebase=true', '{"__svc_row_id":4,"n":4}');
    // Row 4 came after version 1.
    expect(byId).toMatchObject({ status: 409, body: { changed: expect.anything() } });
    expect(await send('lines', 'expected_version=null', '{"__svc_row_id":4,"n":4}')).toMatchObject({ status: 200, body: { updated: 1 } });
    expect((await table.read()).rows).toEqual([
      { k: 'a', n: 1, d: null, __svc_row_id: 1 },
      { k: 'b', n: 9007199254740991, d: '12345678901234567890.0000000001', __svc_row_id: 2 },
      { k: null, n: null, d: null, __svc_row_id: 3 },
      { k: 'c', n: 4, d: null, __svc_row_id: 4 },
    ]);
  });

  it('are written once for one key', async () => {
    const table = await world.makeTable('once', [{ name: 'a' }]);
    for (const repeat of [false, true]) {
      const { status, headers } = await send('once', 'expected_version=1', '{"a":"x"}\n', { 'Idempotency-Key': 'lines' });
      expect([status, headers.has('idempotency-replayed')]).toEqual([200, repeat]);
    }
    expect((await send('once', 'expected_version=1', '{"a":"y"}\n', { 'Idempotency-Key': 'lines' })).status).toBe(422);
    expect((await table.read()).rows).toEqual([{ a: 'x', __svc_row_id: 1 }]);
  });

  const many = (count: number) => '{"n":1}\n'.repeat(count);
  it.each<[what: string, query: string, body: string | Uint8Array, status: number, pointer?: string, detail?: RegExp]>([
    ['no version', '', '{"n":1}', 422, '/query/expected_version', /or null to write without a check/],
    ['a version that is none', 'expected_version=x', '{"n":1}', 422, '/query/expected_version'],
    ['an unknown parameter', 'expected_version=1&keys=n', '{"n":1}', 422, '/query/keys'],
    ['NaN', 'expected_version=1', '{"n":1}\n{"n":NaN}', 400, '/rows/1/n', /JSON has no NaN \(line 2, column 6\)/],
    ['half an object', 'expected_version=1', '{"n":1}\n\n{"n":1', 400, '/rows/1/n', /line 3/],
    ['an object on two lines', 'expected_version=1', '{"n":\n1}', 400, '/rows/0/n', /line 1/],
    ['two objects on one line', 'expected_version=1', '{"n":1}{"n":2}', 400, '/rows/0', /something follows the end \(line 1, column 8\)/],
    ['a list', 'expected_version=1', '[{"n":1}]', 422, '/rows/0', /line 1 must be one JSON object/],
    ['a number', 'expected_version=1', '{"n":1}\n5', 422, '/rows/1', /line 2 must be/],
    ['U+0000', 'expected_version=1', '{"n":1}\n{"t":"a\\u0000"}', 422, '/rows/1/t', /U\+0000/],
    ['other bytes than UTF-8', 'expected_version=1', new Uint8Array([0x7b, 0xff, 0x7d]), 400],
    ['digits that would go', 'expected_version=1', '{"d":0.10000000000000000001}', 422, '/rows/0/d', /as a string/],
    ['a value that does not fit', 'expected_version=1', '{"n":1}\n{"n":"x"}', 422, '/rows/1/n', /whole number/],
    ['an unknown column', 'expected_version=1', '{"m":1}', 422, '/rows/0/m'],
    ['no rows', 'expected_version=1', ' \n\n', 422, '/rows'],
    ['too many rows', 'expected_version=1', many(10_001), 422, '/rows'],
    ['a key twice', 'expected_version=1&key=n', '{"n":1}\n{"n":1}', 422, '/rows/1', /same key as row 0/],
    ['too many bytes', 'expected_version=1', `{"t":"${'x'.repeat(33 * 1024 * 1024)}"}`, 413],
  ])('%s is refused with its place', async (_, query, body, status, pointer, detail = /./) => {
    const answer = await send('refused', query, body);
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([status, pointer]);
    if (pointer !== undefined) expect(answer.body.errors?.[0]?.detail).toMatch(detail);
    expect((await refusedTable.read()).edit_version).toBe(1);
  });

  it('of JSON has its fields in the body, and nothing of them in the query', async () => {
    const body = '{"expected_version":1,"rows":[{"n":1}]}';
    const answer = await send('refused', 'expected_version=1&key=n', body, { 'Content-Type': 'application/json' });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        errors: [{ pointer: '/query/expected_version' }, { pointer: '/query/key', detail: 'stands in the body where that is JSON' }],
      },
    });
    expect((await send('refused', '', 'n\n1\n', { 'Content-Type': 'text/csv' })).status).toBe(415);
  });

  it('a large one is laid down as a file', async () => {
    const table = await world.makeTable('large', [{ name: 'n', type: 'BIGINT' }]);
    const body = Array.from({ length: 10_000 }, (_, n) => `{"n":${n}}`).join('\n');
    expect((await send('large', 'expected_version=1', body)).status).toBe(200);
    expect((await table.read({ limit: 10_000 })).rows.map((row) => row.n)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
    ok(await table.upsert([{ n: 1 }], 2));
  });
});

const refusedTable = await world.makeTable('refused', [
  { name: 'n', type: 'BIGINT' },
  { name: 't' },
  { name: 'd', type: 'DECIMAL(30,20)' },
]);
