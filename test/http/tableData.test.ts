import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { type asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { parseCsv } from '../formats/readBack.ts';
import { makeLargeTable } from '../setup/largeTable.ts';
import { openTestStore, type TestStore } from '../tables/store.ts';
import { askRaw, openAnswer } from './rawRequest.ts';

/** Whole tables, and rows and results, in every format. */

let store: TestStore;
let workbook: string;
const headers = () => ({ Authorization: `Bearer ${store.owner.session}` });
const ask = (path: string, more: Record<string, string> = {}, method = 'GET', body?: object) =>
  askRaw(
    `${workbook}/${path}`,
    { ...headers(), ...(body ? { 'Content-Type': 'application/json' } : {}), ...more },
    method,
    body && JSON.stringify(body),
  );

type Row = Record<string, unknown>;
const types = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
};
type Format = keyof typeof types;
const formats = Object.keys(types) as Format[];

/** The rows of a body, cells as texts, so that formats can be compared. */
async function readBody(format: Format, bytes: Buffer): Promise<Record<string, string | null>[]> {
  const asText = (value: unknown) =>
    value === null || value === undefined ? null : value instanceof Date ? value.toISOString().slice(0, 10) : String(value);
  const asTexts = (row: Row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asText(value)]));
  const text = () => bytes.toString('utf8');
  if (format === 'json') return (JSON.parse(text()).rows as Row[]).map(asTexts);
  if (format === 'ndjson')
    return text()
      .split('\n')
      .filter(Boolean)
      .map((line) => asTexts(JSON.parse(line)));
  if (format === 'csv') {
    const [names, ...rows] = parseCsv(text());
    return rows.map((cells) => Object.fromEntries((names ?? []).map((name, i) => [name, cells[i] ?? null])));
  }
  if (format === 'arrow')
    return tableFromIPC(bytes)
      .toArray()
      .map((row) => asTexts(row.toJSON()));
  const file = { byteLength: bytes.length, slice: (from: number, to?: number) => new Uint8Array(bytes.subarray(from, to)).buffer };
  return (await parquetReadObjects({ file: file as Awaited<ReturnType<typeof asyncBufferFromFile>> })).map(asTexts);
}

const columns = [
  { name: '品目', type: 'VARCHAR' },
  { name: 'n', type: 'BIGINT' },
  { name: 'ok', type: 'BOOLEAN' },
];
const expected = [
  { 品目: 'a,"b"\nc', n: '1', ok: 'true', __svc_row_id: '1' },
  { 品目: '変更', n: '9007199254740993', ok: null, __svc_row_id: '3' },
  { 品目: '', n: null, ok: 'false', __svc_row_id: '4' },
];
const wide = 520;

beforeAll(async () => {
  store = await openTestStore();
  workbook = `${store.api.url}/api/v1/workbooks/${store.workbook.id}`;
  const id = await store.makeTable('small', columns);
  await store.upsert('small', [{ 品目: 'a,"b"\nc', n: 1, ok: true }, { 品目: 'gone' }, { 品目: 'before', n: 3 }]);
  // In a file, in the log, and gone.
  await compactTable(store.services, id, { heartbeat() {} }, { ...compactionLimits, tail: 0, deltaShare: -1 });
  await store.upsert('small', [
    { __svc_row_id: 3, 品目: '変更', n: '9007199254740993' },
    { 品目: '', ok: false },
  ]);
  await store.remove('small', [2]);
  await store.makeTable('empty', columns);
  await store.makeTable(
    'wide',
    Array.from({ length: wide }, (_, i) => ({ name: `c${i}`, type: i % 2 ? 'BIGINT' : 'VARCHAR' })),
  );
  const wideRow = (n: number) => Object.fromEntries(Array.from({ length: wide }, (_, i) => [`c${i}`, i % 2 ? n * i : `${n},${i}`]));
  await store.upsert(
    'wide',
    Array.from({ length: 900 }, (_, n) => wideRow(n)),
  );
});
afterAll(() => store.stop());

describe.each(formats)('as %s', (format) => {
  it('a whole table is its rows in row order, with the version beside', async () => {
    const answer = await ask(`tables/small/data?format=${format}`);
    expect([answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([200, types[format]]);
    expect(answer.headers).toMatchObject({ 'x-svc-edit-version': '4', 'x-svc-row-count': '3', etag: expect.stringMatching(/^(W\/)?"4-/) });
    expect(await readBody(format, answer.bytes)).toEqual(expected);
  });

  it('Accept chooses the same as format', async () => {
    for (const path of [
      'tables/small/data',
      'tables/small/rows',
      'tables/small/rows?sort=n',
      'tables/small/rows?filter=n%20IS%20NOT%20NULL',
    ]) {
      const [named, accepted] = await Promise.all([
        ask(`${path}${path.includes('?') ? '&' : '?'}format=${format}`, { Accept: 'image/png' }),
        ask(path, { Accept: types[format] }),
      ]);
      expect([path, named.status, named.headers['content-type']]).toEqual([path, 200, accepted.headers['content-type']]);
      expect(await readBody(format, named.bytes)).toEqual(await readBody(format, accepted.bytes));
      expect(accepted.headers.vary).toContain('Accept');
    }
  });

  it('a table is read at a version, and some of its columns', async () => {
    const old = await ask(`tables/small/data?format=${format}&at_version=2&columns=品目`.replace('品目', encodeURIComponent('品目')));
    expect((await readBody(format, old.bytes)).map((row) => [Object.keys(row).length, row.品目])).toEqual([
      [2, 'a,"b"\nc'],
      [2, 'gone'],
      [2, 'before'],
    ]);
  });

  it('a table without rows has columns', async () => {
    const { status, bytes } = await ask(`tables/empty/data?format=${format}`);
    expect([status, await readBody(format, bytes)]).toEqual([200, []]);
    if (format === 'csv') expect(String(bytes)).toBe('品目,n,ok,__svc_row_id\n');
  });

  it('a table of very many columns is read in parts', async () => {
    const whole = await readBody(format, (await ask(`tables/wide/data?format=${format}`)).bytes);
    expect([whole.length, Object.keys(whole[0] ?? {}).length, whole[899]?.c519, whole[899]?.c518]).toEqual([
      900,
      wide + 1,
      '466581',
      '899,518',
    ]);
    const page = await readBody(format, (await ask(`tables/wide/rows?format=${format}&limit=3&sort=c1:desc`)).bytes);
    expect(page.map((row) => row.c0)).toEqual(['899,0', '898,0', '897,0']);
  });

  it('a query answers in it, by the body, the address or Accept, and so does its result', async () => {
    const sql = 'SELECT 品目, n, sum(n) OVER () AS total FROM small ORDER BY __svc_row_id';
    const ways = [
      await ask('query', {}, 'POST', { sql, format }),
      await ask(`query?format=${format}`, { Accept: 'image/png' }, 'POST', { sql }),
      await ask('query', { Accept: types[format] }, 'POST', { sql }),
    ];
    const id = ways[0]?.headers['x-svc-result-id'];
    ways.push(await askRaw(`${store.api.url}/api/v1/results/${id}?format=${format}`, headers()));
    for (const { status, bytes } of ways) {
      expect([status, (await readBody(format, bytes)).map((row) => row.total)]).toEqual([200, Array(3).fill('9007199254740994')]);
    }
    const tagged = ways[3]?.headers.etag ?? '';
    expect(tagged.startsWith('W/')).toBe(format === 'arrow' || format === 'parquet');
    const again = await askRaw(`${store.api.url}/api/v1/results/${id}?format=${format}`, { ...headers(), 'If-None-Match': tagged });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  it('is compressed if that helps', async () => {
    const { headers: told, bytes } = await ask(`tables/wide/data?format=${format}`, { 'Accept-Encoding': 'br' });
    expect(told['content-encoding']).toBe(format === 'parquet' ? undefined : 'br');
    if (format !== 'parquet') expect(await readBody(format, brotliDecompressSync(bytes))).toHaveLength(900);
  });
});

describe('a whole table', () => {
  it('goes on as it was when it is written to meanwhile', async () => {
    await makeLargeTable(store.services, store.workbook, {
      name: 'moving',
      columns: [{ name: 'text', type: 'VARCHAR', sql: "repeat('x', 400) || i" }],
      rows: 150_000,
      rowsPerFile: 50_000,
    });
    const answer = await openAnswer(`${workbook}/tables/moving/data?format=csv`, headers());
    const first = (await new Promise<Buffer>((done) => answer.once('data', done))).length;
    answer.pause();
    await store.upsert('moving', [{ __svc_row_id: 149_999, text: 'changed' }]);
    await store.remove('moving', [150_000]);
    const rest = await buffer(answer);
    const lines = rest.toString().split('\n');
    expect([first > 0, lines.at(-3)?.endsWith('x149999,149999'), lines.at(-2)?.endsWith('x150000,150000')]).toEqual([true, true, true]);
    const now = await ask('tables/moving/data?format=csv');
    expect(String(now.bytes.subarray(-40)).trim().split('\n').at(-1)).toBe('changed,149999');
  });

  it('is in row order in every format also when rows of all its windows were changed', async () => {
    await store.upsert('moving', [
      { __svc_row_id: 100_000, text: 'b' },
      { __svc_row_id: 2, text: 'a' },
    ]);
    for (const format of ['parquet', 'ndjson'] as const) {
      const rows = await readBody(format, (await ask(`tables/moving/data?format=${format}`)).bytes);
      expect(rows.length).toBe(149_999);
      expect(rows.every((row, i) => row.__svc_row_id === String(i + 1))).toBe(true);
      expect([rows[1]?.text, rows[99_999]?.text]).toEqual(['a', 'b']);
    }
  });

  it('waits for its reader instead of filling the memory, and holds nothing of one who leaves', async () => {
    const { rss } = process.memoryUsage();
    for (let i = 0; i < 20; i += 1) {
      const answer = await openAnswer(`${workbook}/tables/moving/data?format=${formats[i % 4]}`, headers());
      await new Promise((done) => answer.once('data', done));
      answer.pause();
      await new Promise((done) => setTimeout(done, 20));
      expect(process.memoryUsage().rss - rss).toBeLessThan(500_000_000);
      answer.destroy();
      await new Promise((done) => answer.once('close', done));
    }
    expect((await ask('tables/small/data')).status).toBe(200);
  });

  it('is saved under its name', async () => {
    expect((await ask('tables/small/data?format=csv')).headers['content-disposition']).toBe("attachment; filename*=UTF-8''small.csv");
    expect((await ask('tables/small/data')).headers['content-disposition']).toBeUndefined();
  });

  it('answers 304 to who has it, and 200 when the version is another', async () => {
    for (const format of formats) {
      const path = `tables/empty/data?format=${format}`;
      const { etag } = (await ask(path)).headers;
      expect((await ask(path, { 'If-None-Match': etag ?? '' })).status).toBe(304);
      expect((await ask(`${path}&columns=n`, { 'If-None-Match': etag ?? '' })).status).toBe(200);
    }
  });
});

describe('what cannot be made', () => {
  it.each([
    ['tables/small/data', 'image/png', 5],
    ['tables/small/rows', 'application/xml, image/png;q=0.9', 5],
    ['tables/small/rows', 'application/json;q=0', 5],
    ['tables/small/schema', 'text/csv', 2],
  ])('%s as %s is 406, and says what can', async (path, accept, count) => {
    const { status, bytes } = await ask(path, { Accept: accept });
    const problem = JSON.parse(String(bytes)) as { type: string; available: string[] };
    expect([status, problem.type, problem.available.length]).toEqual([406, 'urn:svc:problem:not-acceptable', count]);
  });

  it('of an unknown format is 422', async () => {
    expect((await ask('tables/small/data?format=xml')).status).toBe(422);
    expect((await ask('query?format=csv', {}, 'POST', { sql: 'SELECT 1', format: 'json' })).status).toBe(422);
  });

  it.each([
    ['*/*', 'application/json'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
    ['text/*', 'text/csv'],
    ['application/x-ndjson;q=0.5, text/csv;q=0.9', 'text/csv'],
    ['application/*', 'application/json'],
  ])('is no matter for who takes %s', async (accept, type) => {
    expect((await ask('tables/small/data', { Accept: accept })).headers['content-type']?.split(';')[0]).toBe(type);
  });

  it('is no matter where there is one form only', async () => {
    expect((await ask('tables/small', { Accept: 'text/csv' })).status).toBe(200);
  });

  it('a schema is chosen by either, too', async () => {
    const named = await ask('tables/small/schema?format=json-schema');
    const accepted = await ask('tables/small/schema', { Accept: 'application/schema+json' });
    expect([named.bytes.equals(accepted.bytes), named.headers['content-type']?.split(';')[0]]).toEqual([true, 'application/schema+json']);
  });
});
