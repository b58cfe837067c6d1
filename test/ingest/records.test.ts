import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { namesOf, useWorld } from './world.ts';

const world = await useWorld();
const folder = await mkdtemp(join(tmpdir(), 'records-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const instance = await DuckDBInstance.create(':memory:');
const duckdb = await instance.connect();

/** The bytes of a Parquet file with the rows of a SELECT. */
async function makeParquet(select: string, options = ''): Promise<Buffer> {
  const path = join(folder, 'made.parquet');
  await duckdb.run(`COPY (${select}) TO '${path}' (FORMAT parquet${options})`);
  return readFile(path);
}

const schemaOf = (answer: { artifacts: { schema?: unknown }[] }) =>
  ((answer.artifacts[0]?.schema ?? []) as { name: string; type: string }[]).map(({ name, type }) => `${name} ${type}`);
const atSource = (name: string) => ({ params: { path: { workbook_id: world.workbookId, source_name: name } } });

describe('uploadSource: files of records', () => {
  it('takes Parquet with its types', async () => {
    const bytes = await makeParquet(
      `SELECT 9007199254740993 AS id, '青木' AS 名前, CAST('12345678901234567890.1234' AS DECIMAL(38,4)) AS 金額, true AS ok,
       DATE '2024-04-01' AS 日付, TIMESTAMP '2024-04-01 09:30:00.123456' AS 時刻, TIMESTAMPTZ '2024-04-01 09:30:00+09' AS utc,
       TIME '09:30:01.5' AS t, [1, NULL] AS list, {'a': 'x'} AS st, CAST('nan' AS DOUBLE) AS n, 1.5::FLOAT AS f, NULL::VARCHAR AS none
       UNION ALL SELECT 2, '馬場', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2.5, NULL, 'x'`,
      ', COMPRESSION zstd',
    );
    const before = await world.readCredits();
    const answer = await world.upload('売上.parquet', bytes);
    expect(answer).toMatchObject({
      structuring: 'skipped',
      credits_charged: 0,
      source: { content_type: 'application/vnd.apache.parquet' },
    });
    expect(await world.readCredits()).toEqual(before);
    expect(namesOf(answer)).toEqual(['売上']);
    expect(schemaOf(answer)).toEqual([
      'id BIGINT',
      '名前 VARCHAR',
      '金額 DECIMAL(38,4)',
      'ok BOOLEAN',
      '日付 DATE',
      '時刻 TIMESTAMP',
      'utc TIMESTAMP',
      't TIME',
      'list JSON',
      'st JSON',
      'n DOUBLE',
      'f DOUBLE',
      'none VARCHAR',
    ]);
    const rows = await world.readRows('売上');
    expect(rows[0]).toMatchObject({
      __svc_row_id: 1,
      id: '9007199254740993',
      名前: '青木',
      金額: '12345678901234567890.1234',
      ok: true,
      日付: '2024-04-01',
      list: [1, null],
      st: { a: 'x' },
      n: null,
      f: 1.5,
      none: null,
    });
    expect([rows[0]?.時刻, rows[0]?.utc, rows[0]?.t]).toEqual(['2024-04-01T09:30:00.123456', '2024-04-01T00:30:00', '09:30:01.500000']);
    expect(rows[1]).toMatchObject({ __svc_row_id: 2, id: 2, ok: null, list: null, n: 2.5, none: 'x' });
  });

  it('takes a JSON array of objects, with every digit', async () => {
    const answer = await world.upload(
      'orders.json',
      '[{"id": 1, "big": 123456789012345678901, "exact": 0.12345678901234567890, "tags": ["a", 1], "mixed": 1},\n' +
        ' {"id": 2, "big": 1, "exact": 1e-3, "mixed": "x", "ok": false, "x": 2.5, "huge": 1e400}, {}]',
    );
    expect(schemaOf(answer)).toEqual([
      'id BIGINT',
      'big DECIMAL(38,0)',
      'exact DECIMAL(38,19)',
      'tags JSON',
      'mixed JSON',
      'ok BOOLEAN',
      'x DOUBLE',
      'huge VARCHAR',
    ]);
    expect(await world.readCells('orders')).toEqual([
      { id: 1, big: '123456789012345678901', exact: '0.1234567890123456789', tags: ['a', 1], mixed: 1, ok: null, x: null, huge: null },
      { id: 2, big: '1', exact: '0.0010000000000000000', tags: null, mixed: 'x', ok: false, x: 2.5, huge: '1e400' },
      { id: null, big: null, exact: null, tags: null, mixed: null, ok: null, x: null, huge: null },
    ]);
  });

  it('takes NDJSON, and gives columns names that they can have', async () => {
    const answer = await world.upload('log.jsonl', '\ufeff{"": 1, "__svc_row_id": 7, "A": true, "a": "x"}\r\n\n{"a": "y"}\n');
    expect(schemaOf(answer)).toEqual(['列1 BIGINT', '__svc_row_id_2 BIGINT', 'A BOOLEAN', 'a_2 VARCHAR']);
    expect(await world.readCells('log')).toEqual([
      { 列1: 1, __svc_row_id_2: 7, A: true, a_2: 'x' },
      { 列1: null, __svc_row_id_2: null, A: null, a_2: 'y' },
    ]);
  });

  it.each(['stream', 'file'] as const)('takes an Arrow %s', async (kind) => {
    const table = tableFromArrays({
      id: BigInt64Array.from([9007199254740993n, 2n]),
      size: Float64Array.from([1.5, Number.NaN]),
      name: ['あ', 'い'],
    });
    const answer = await world.upload(`arrow ${kind}.arrow`, tableToIPC(table, kind));
    expect(answer.source.content_type).toBe(`application/vnd.apache.arrow.${kind}`);
    expect(schemaOf(answer)).toEqual(['id BIGINT', 'size DOUBLE', 'name VARCHAR']);
    expect(await world.readCells(`arrow ${kind}`)).toEqual([
      { id: '9007199254740993', size: 1.5, name: 'あ' },
      { id: 2, size: null, name: 'い' },
    ]);
  });

  it('takes a file without records as an empty table', async () => {
    const answer = await world.upload('none.parquet', await makeParquet('SELECT 1 AS a, now() AS b WHERE false'));
    expect(answer.artifacts).toMatchObject([{ name: 'none', row_count: 0 }]);
    expect(schemaOf(answer)).toEqual(['a BIGINT', 'b TIMESTAMP']);
  });

  it('keeps them as they are when asked to structure or defer, and again for the same bytes', async () => {
    const bytes = '{"科目": "売上", "2023年度": 1, "2024年度": 2}\n';
    const first = await world.upload('pl.ndjson', bytes, { fields: { structuring: 'defer' } });
    expect(first).toMatchObject({ structuring: 'skipped', credits_charged: 0 });
    const again = await world.upload('pl.ndjson', bytes);
    expect(again.source.id).toBe(first.source.id);
    expect(schemaOf(again)).toEqual(['科目 VARCHAR', '2023年度 BIGINT', '2024年度 BIGINT']);
  });
});

describe('what csv can, files of records can', () => {
  it('shows the file and where a row came from', async () => {
    await world.upload('preview.ndjson', '{"a": 1, "b": null}\n{"a": 2, "b": "x"}\n');
    const preview = await world.owner.client.GET(
      '/api/v1/workbooks/{workbook_id}/sources/{source_name}/preview',
      atSource('preview.ndjson'),
    );
    expect(ok(preview)).toMatchObject({ sheet: 'preview', truncated: false });
    expect((ok(preview) as { values: unknown[][] }).values.map((row) => row.slice(0, 2))).toEqual([
      ['a', 'b'],
      [1, null],
      [2, 'x'],
    ]);
    const path = { workbook_id: world.workbookId, name: 'preview', row_id: 2 };
    const lineage = await world.api.fetch(`/api/v1/workbooks/${path.workbook_id}/tables/preview/rows/2/lineage`, {
      token: world.owner.session,
    });
    expect(await lineage.json()).toMatchObject({ cells: [{ source: 'preview.ndjson', sheet: null, range: 'A3:B3', columns: ['a', 'b'] }] });
  });

  it('downloads the bytes', async () => {
    const got = await world.api.fetch(`/api/v1/workbooks/${world.workbookId}/sources/preview.ndjson/download`, {
      token: world.owner.session,
    });
    expect([got.headers.get('Content-Type'), (await got.text()).length]).toEqual(['application/x-ndjson', 39]);
  });

  it('revises the table in place, keeping columns that are the same', async () => {
    await world.upload('stock.json', '[{"item": "a", "n": 1}]');
    const path = `/api/v1/workbooks/${world.workbookId}/sources/stock.json/revise`;
    const revised = await world.send('stock.json', '[{"item": "a", "n": 1.5, "new": true}, {"item": "b", "n": 2}]', { path });
    expect(revised.status).toBe(200);
    expect(await world.readCells('stock')).toEqual([
      { item: 'a', n: 1.5, new: true },
      { item: 'b', n: 2, new: null },
    ]);
    const other = await world.send('stock.csv', 'item,n\na,1\n', { path });
    expect(other.status).toBe(415);
  });

  it('is analyzed and appended in stages', async () => {
    await world.upload('base.ndjson', '{"id": 9007199254740993, "at": "x", "d": 1.5}\n');
    const bytes = await makeParquet(`SELECT 9007199254740995 AS id, ' - ' AS at, 2.5::DOUBLE AS d`);
    await world.upload('more.parquet', bytes, { fields: { mode: 'staged' } });
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', atSource('more.parquet')));
    const spec = ok(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec', atSource('more.parquet')),
    );
    expect(spec).toMatchObject({
      reader: { format: 'parquet' },
      regions: [{ range: 'A1:C2', kind: 'data', header_rows: [1], selected: true }],
    });
    ok(
      await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', {
        ...atSource('more.parquet'),
        body: { target: { mode: 'append', table: 'base', expected_version: 1 } },
      }),
    );
    expect(await world.readCells('base')).toEqual([
      { id: '9007199254740993', at: 'x', d: 1.5 },
      { id: '9007199254740995', at: '-', d: 2.5 },
    ]);
  });
});

describe('files of records that cannot be read', () => {
  const parquet = (select: string) => () => makeParquet(select);
  it.each<[string, string, string | Buffer | (() => Promise<Buffer>), number, RegExp]>([
    ['an empty file', 'a.parquet', '', 422, /empty/],
    ['another kind', 'a.parquet', 'a,b\n1,2', 415, /not Parquet/],
    ['cut off', 'a.parquet', async () => (await makeParquet('SELECT 1 AS a')).subarray(0, 100), 422, /cut off/],
    [
      'without its middle',
      'b.parquet',
      async () => Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(300, 7), Buffer.from('PAR1')]),
      422,
      /damaged/,
    ],
    ['binary columns', 'c.parquet', parquet(`SELECT 'x'::BLOB AS photo`), 422, /"photo" is of the type BLOB/],
    ['intervals', 'd.parquet', parquet(`SELECT INTERVAL 1 DAY AS i`), 422, /"i" is of the type INTERVAL/],
    ['years beyond 9999', 'e.parquet', parquet(`SELECT DATE '20000-01-01' AS d`), 422, /"d" has a value that is outside of the years/],
    ['U+0000 in text', 'f.parquet', parquet(`SELECT 'a' || chr(0) AS t`), 422, /"t" has a value that contains U\+0000/],
    ['nanoseconds', 'g.parquet', parquet(`SELECT TIMESTAMP_NS '2024-04-01 00:00:00.123456789' AS t`), 422, /nanoseconds/],
    ['a bomb', 'h.parquet', parquet(`SELECT repeat('x', 1000000) AS t FROM range(3000)`), 413, /longer|unpacks/],
    ['too many records', 'i.parquet', parquet('SELECT 1 AS a FROM range(1048577)'), 413, /more than 1048576 records/],
    ['an object', 'a.json', '{"data": []}', 422, /JSON object, not an array/],
    ['no JSON', 'b.json', 'hello', 422, /not a JSON array/],
    ['elements of several kinds', 'c.json', '[{"a": 1}, [2]]', 422, /Record 2 is an array/],
    ['numbers instead of records', 'd.json', '[1, 2]', 422, /Record 1 is no object/],
    ['an array that does not end', 'e.json', '[{"a": 1}, {"a"', 422, /ends within its array/],
    ['something behind the array', 'f.json', '[{"a": 1}] x', 422, /behind the end/],
    ['a name twice', 'g.json', '[{"a": 1, "a": 2}]', 422, /Record 1 has the name "a" twice/],
    ['NaN', 'h.json', '[{"a": 1}, {"a": NaN}]', 422, /Record 2 has NaN/],
    [
      'no UTF-8',
      'i.json',
      Buffer.from([0x5b, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d, 0x5d]),
      422,
      /Record 1 is not valid UTF-8/,
    ],
    ['U+0000 in JSON', 'j.json', '[{"a": "\\u0000"}]', 422, /Record 1 has U\+0000/],
    ['nesting without end', 'k.json', `[{"a": ${'['.repeat(5000)}${']'.repeat(5000)}}]`, 422, /nested too deeply/],
    ['records without names', 'l.json', '[{}, {}]', 422, /no columns/],
    ['an array as NDJSON', 'a.ndjson', '[{"a": 1}]', 422, /begins with an array/],
    ['a broken line', 'b.ndjson', '{"a": 1}\n{"a": \n', 422, /Record 2 is not JSON/],
    ['another kind as Arrow', 'a.arrow', 'hello, world', 415, /not Arrow/],
    [
      'Arrow without its end',
      'b.arrow',
      Buffer.from(tableToIPC(tableFromArrays({ a: [1, 2] }), 'stream')).subarray(0, 60),
      422,
      /damaged, cut off/,
    ],
    ['a packed file', 'a.ndjson.gz', 'x', 415, /\.gz are not read/],
  ])('%s', async (_, filename, content, status, detail) => {
    const bytes = typeof content === 'function' ? await content() : content;
    const names = await world.listNames();
    const response = await world.send(filename, bytes);
    const problem = (await response.json()) as { detail: string; suggested_fix: string };
    expect([response.status, problem.detail]).toEqual([status, expect.stringMatching(detail)]);
    expect(problem.suggested_fix).not.toBe('');
    expect(await world.listNames()).toEqual(names);
  });
});
