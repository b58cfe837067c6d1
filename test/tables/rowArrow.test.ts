import {
  Decimal,
  Dictionary,
  Field,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();
const arrow = 'application/vnd.apache.arrow.stream';

async function send(table: string, query: string, body: Uint8Array, headers: Record<string, string> = {}) {
  const answer = await api.fetch(`/api/v1/workbooks/${world.workbookId}/tables/${table}/rows?${query}`, {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': arrow, ...headers },
    body: body as NonNullable<RequestInit['body']>,
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as { errors?: { pointer: string; detail: string }[] },
  };
}

const stream = (columns: Record<string, Vector>) => tableToIPC(new Table(columns), 'stream');
const ids = (...values: (bigint | null)[]) => vectorFromArray(values, new Int64());

describe('upsertRows: an Arrow stream', () => {
  it('that was read is written back, every digit and moment kept', async () => {
    const columns = [
      { name: 't' },
      { name: 'i', type: 'BIGINT' },
      { name: 'f', type: 'DOUBLE' },
      { name: 'd', type: 'DECIMAL(38,10)' },
      { name: 'b', type: 'BOOLEAN' },
      { name: 'day', type: 'DATE' },
      { name: 'ts', type: 'TIMESTAMP' },
      { name: 'at', type: 'TIME' },
    ];
    const [from, to] = [await world.makeTable('from', columns), await world.makeTable('to', columns)];
    const rows = [
      {
        t: 'é😀',
        i: '9223372036854775807',
        f: 0.1,
        d: '-1234567890123456789012345678.0000000001',
        b: true,
        day: '2024-02-29',
        ts: '2024-04-01T09:30:00.123456',
        at: '23:59:59.000001',
      },
      { t: '', i: '-1', f: -1e300, d: '0', b: false, day: '0001-01-01', ts: '9999-12-31T23:59:59', at: '00:00:00' },
      {},
    ];
    await from.upsert(rows);
    await to.upsert([{}, {}, {}]);
    const read = await api.fetch(`/api/v1/workbooks/${world.workbookId}/tables/from/rows`, {
      token: world.owner.session,
      headers: { accept: arrow },
    });
    const answer = await send('to', 'expected_version=2', new Uint8Array(await read.arrayBuffer()));
    expect(answer).toMatchObject({ status: 200, body: { edit_version: 3, inserted: 0, updated: 3, row_ids: [1, 2, 3] } });
    expect((await to.read()).rows).toEqual((await from.read()).rows);
  });

  it('matches by key, inserts where the row id is null, takes nested values as JSON, and is written once', async () => {
    const table = await world.makeTable('arrow', [{ name: 'k' }, { name: 'n', type: 'BIGINT' }, { name: 'j', type: 'JSON' }]);
    const nested = vectorFromArray([{ a: 1 }, null], new Struct([new Field('a', new Int32())]));
    const body = stream({ k: vectorFromArray(['x', 'y'], new Dictionary(new Utf8(), new Int32())), n: ids(1n, 2n), j: nested });
    for (const repeat of [false, true]) {
      const { status, headers } = await send('arrow', 'expected_version=1&key=k', body, { 'Idempotency-Key': 'arrow' });
      expect([status, headers.has('idempotency-replayed')]).toEqual([200, repeat]);
    }
    const mixed = await send('arrow', 'expected_version=2', stream({ __svc_row_id: ids(2n, null), n: ids(22n, 3n) }));
    expect(mixed).toMatchObject({ status: 200, body: { inserted: 1, updated: 1, row_ids: [2, 3] } });
    expect((await table.read()).rows).toEqual([
      { k: 'x', n: 1, j: { a: 1 }, __svc_row_id: 1 },
      { k: 'y', n: 22, j: null, __svc_row_id: 2 },
      { k: null, n: 3, j: null, __svc_row_id: 3 },
    ]);
  });

  const long = (count: number) =>
    stream({
      n: vectorFromArray(
        Array.from({ length: count }, (_, n) => BigInt(n)),
        new Int64(),
      ),
    });
  /** Little to send, and gigabytes if it were written out. */
  const repeated = () => {
    const words = vectorFromArray(['x'.repeat(1_000_000)], new Utf8());
    const type = new Dictionary(new Utf8(), new Int32());
    const data = makeData({ type, length: 5000, data: new Int32Array(5000), dictionary: words });
    const schema = new Schema([new Field('t', type)]);
    const struct = makeData({ type: new Struct(schema.fields), length: 5000, children: [data] });
    return tableToIPC(new Table([new RecordBatch(schema, struct)]), 'stream');
  };
  it.each<[what: string, query: string, make: () => Uint8Array, status: number, pointer?: string]>([
    ['no version', '', () => stream({ n: ids(1n) }), 422, '/query/expected_version'],
    ['a value that does not fit', 'expected_version=1', () => stream({ n: vectorFromArray(['1', 'x'], new Utf8()) }), 422, '/rows/1/n'],
    [
      'too many digits',
      'expected_version=1',
      () => stream({ d: vectorFromArray([Uint32Array.of(1, 0, 0, 0)], new Decimal(10, 38)) }),
      422,
      '/rows/0/d',
    ],
    ['an unknown column', 'expected_version=1', () => stream({ m: ids(1n) }), 422, '/rows/0/m'],
    ['a key twice', 'expected_version=1&key=n', () => stream({ n: ids(1n, 1n) }), 422, '/rows/1'],
    ['no rows', 'expected_version=1', () => long(0), 422, '/rows'],
    ['too many rows', 'expected_version=1', () => long(10_001), 422, '/rows'],
    ['something else', 'expected_version=1', () => Buffer.from('{"n":1}'), 422],
    ['half of it', 'expected_version=1', () => long(100).subarray(0, 500), 422],
    ['more than it seems', 'expected_version=1', repeated, 413],
  ])('with %s is refused, and nothing changes', async (_, query, make, status, pointer) => {
    const answer = await send('never', query, make());
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([status, pointer]);
    expect((await never.read()).edit_version).toBe(1);
  });
});

const never = await world.makeTable('never', [{ name: 'n', type: 'BIGINT' }, { name: 't' }, { name: 'd', type: 'DECIMAL(4,2)' }]);
