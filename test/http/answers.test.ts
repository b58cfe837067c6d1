import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hideColumns, showColumns } from '../setup/governance.ts';
import { openTestStore, type TestStore } from '../tables/store.ts';
import { askRaw, openAnswer } from './rawRequest.ts';

/** What every answer has in common: how it is compressed, and how a client asks whether it changed. */

let store: TestStore;
let table: string;
const rows = 50_000;

beforeAll(async () => {
  store = await openTestStore();
  await store.makeLargeTable('large', rows);
  await store.makeTable('small', [{ name: 'a', type: 'VARCHAR' }]);
  table = `${store.api.url}/api/v1/workbooks/${store.workbook.id}/tables`;
});
afterAll(() => store.stop());

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  askRaw(path.startsWith('http') ? path : `${table}/${path}`, { Authorization: `Bearer ${store.owner.session}`, ...headers }, method);

const decoders = { br: brotliDecompressSync, gzip: gunzipSync };

describe('compression', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['*', 'br'],
    ['identity', undefined],
    ['br;q=0, gzip;q=0', undefined],
    ['deflate, zstd', undefined],
    ['', undefined],
  ] as const)('of a page for a client that takes "%s" is %s', async (accepted, coding) => {
    const path = 'large/rows?limit=200';
    const plain = await ask(path);
    const answer = await ask(path, { 'Accept-Encoding': accepted });
    expect([answer.status, answer.headers['content-encoding'], answer.headers.vary]).toEqual([
      200,
      coding,
      expect.stringContaining('Accept-Encoding'),
    ]);
    expect((coding ? decoders[coding](answer.bytes) : answer.bytes).equals(plain.bytes)).toBe(true);
    if (coding) expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 2);
  });

  it('is of streams, too', async () => {
    const path = 'large/rows?limit=10000';
    const type = { Accept: 'application/vnd.apache.arrow.stream' };
    const answer = await ask(path, { ...type, 'Accept-Encoding': 'gzip' });
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(answer.bytes).equals((await ask(path, type)).bytes)).toBe(true);
  });

  it('is not worth it for what is small', async () => {
    expect((await ask('small', { 'Accept-Encoding': 'br' })).headers).toMatchObject({ 'content-length': expect.any(String) });
  });

  it('is announced to HEAD as to GET, and nothing stays open', async () => {
    for (let i = 0; i < 20; i += 1) {
      const answer = await ask(
        'large/rows?limit=10000',
        { Accept: 'application/vnd.apache.arrow.stream', 'Accept-Encoding': 'br' },
        'HEAD',
      );
      expect([answer.status, answer.headers['content-encoding'], answer.bytes.length]).toEqual([200, 'br', 0]);
    }
  });

  it('ends with its reader: readers who leave hold nothing', async () => {
    for (let i = 0; i < 20; i += 1) {
      const answer = await openAnswer(`${table}/large/rows?limit=10000`, {
        Authorization: `Bearer ${store.owner.session}`,
        Accept: 'application/vnd.apache.arrow.stream',
        'Accept-Encoding': 'br',
      });
      answer.once('data', () => answer.destroy());
      await new Promise((done) => answer.once('close', done));
    }
    expect((await ask('large/rows?limit=1', { Accept: 'application/vnd.apache.arrow.stream' })).status).toBe(200);
  });
});

describe('an ETag', () => {
  const reads = [
    'small',
    'small/columns',
    'small/schema',
    'small/schema?format=json-schema',
    'small/range?range=A1:B2',
    'small/profile',
    'small/rows',
  ];
  const workbook = () => `${store.api.url}/api/v1/workbooks/${store.workbook.id}`;

  it.each([...reads, 'small/lineage', 'small/diff?from=1'])('of %s answers 304 until something changes', async (path) => {
    const first = await ask(path);
    const { etag } = first.headers;
    expect([first.status, etag]).toEqual([200, expect.stringMatching(/^"[\w-]+"$/)]);
    const again = await ask(path, { 'If-None-Match': etag ?? '' });
    expect([again.status, again.headers.etag, again.bytes.length]).toEqual([304, etag, 0]);
    expect([again.headers['cache-control'], again.headers.vary]).toEqual(['private, no-cache', expect.stringContaining('Accept-Encoding')]);
    await store.upsert('small', [{ a: 'more' }]);
    if (!path.includes('lineage')) expect((await ask(path, { 'If-None-Match': etag ?? '' })).status).toBe(200);
  });

  it.each(reads)('of %s begins with the version', async (path) => {
    const { headers } = await ask(path);
    const version = await store.api.fetch(`/api/v1/workbooks/${store.workbook.id}/tables/small`, { token: store.owner.session });
    expect(headers.etag?.split('-')[0]).toBe(`"${((await version.json()) as { edit_version: number }).edit_version}`);
  });

  it('is there for what has no version: a workbook, a list', async () => {
    for (const path of [workbook(), `${workbook()}/tables`, `${store.api.url}/api/v1/workbooks`]) {
      const { etag } = (await ask(path)).headers;
      expect([path, (await ask(path, { 'If-None-Match': etag ?? '' })).status]).toEqual([path, 304]);
    }
  });

  it('names the bytes: one for each coding, and any of them is recognised', async () => {
    const codings = ['', 'br', 'gzip'];
    const tags = await Promise.all(
      codings.map(async (coding) => (await ask('large/rows', { 'Accept-Encoding': coding })).headers.etag ?? ''),
    );
    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) {
      for (const coding of codings) {
        const again = await ask('large/rows', { 'Accept-Encoding': coding, 'If-None-Match': tag });
        expect([again.status, again.headers.etag]).toEqual([304, tag]);
      }
    }
  });

  it.each([
    ['*', 304],
    ['W/TAG', 304],
    ['"other", TAG', 304],
    ['"other"', 200],
    ['nonsense', 200],
    ['"2"', 200],
  ])('in If-None-Match: %s is answered %s', async (header, status) => {
    const { etag } = (await ask('large/rows')).headers;
    expect((await ask('large/rows', { 'If-None-Match': header.replace('TAG', etag ?? '') })).status).toBe(status);
  });

  it('is another for who may see something else', async () => {
    const { client } = store.owner;
    const seen = new Map<string, string | undefined>();
    for (const effect of [null, 'mask', 'deny'] as const) {
      if (effect) await hideColumns(client, store.workbook.id, 'small', { a: effect });
      for (const path of reads) {
        const { etag } = (await ask(path)).headers;
        for (const before of seen.values()) expect(etag).not.toBe(before);
        seen.set(`${effect} ${path}`, etag);
      }
    }
    await showColumns(client, store.workbook.id);
  });

  it('is not for what was refused, and not for writes', async () => {
    const { headers } = await ask('nothing', { 'If-None-Match': '*' });
    expect(headers.etag).toBeUndefined();
  });
});

it('202 says when to look again, and an answer that is repeated says so, too', async () => {
  const send = () => {
    const form = new FormData();
    form.set('file', new File(['a,b\n1,2\n'], 'later.csv'));
    form.set('async', 'true');
    const init = { method: 'POST', token: store.owner.session, headers: { 'Idempotency-Key': 'answers-202' }, body: form };
    return store.api.fetch(`/api/v1/workbooks/${store.workbook.id}/sources`, init);
  };
  for (const answer of [await send(), await send()]) expect([answer.status, answer.headers.get('retry-after')]).toEqual([202, '2']);
});

describe('addresses', () => {
  it('may be 64 KiB long', async () => {
    const filter = `a <> '${'長'.repeat(7_000)}'`;
    const path = `small/rows?filter=${encodeURIComponent(filter)}`;
    expect(path.length).toBeGreaterThan(60_000);
    expect((await ask(path)).status).toBe(200);
  });

  it('that are longer are refused by a problem document', async () => {
    const answer = await ask(`small/rows?filter=${'a'.repeat(100_000)}`);
    expect([answer.status, JSON.parse(String(answer.bytes)).type]).toEqual([413, 'urn:svc:problem:too-large']);
  });
});
