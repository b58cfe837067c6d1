import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { maxIdleMs, rowFormats, startRows, streamRows } from '../../store/duckdb/formats/streamRows.ts';
import { collect, readRows } from './readBack.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  connection = await instance.connect();
});

afterAll(() => connection.closeSync());

describe.each(rowFormats)('streamRows as %s', (format) => {
  it('gives no rows', async () => {
    const bytes = await collect(streamRows(connection, 'SELECT 1 AS a, NULL::VARCHAR AS b WHERE false', undefined, format));
    if (format === 'arrow') {
      const table = arrow.tableFromIPC(bytes);
      expect([table.numRows, table.schema.names]).toEqual([0, ['a', 'b']]);
    } else expect(bytes.toString()).toBe({ json: '[]', ndjson: '', csv: 'a,b\n' }[format]);
  });

  it('gives one column of many chunks in the order of the query', async () => {
    const rows = await readRows(connection, 'SELECT i FROM range(10000) t(i) ORDER BY i DESC', format);
    expect(rows.map((row) => row.i)).toEqual(Array.from({ length: 10_000 }, (_, i) => 9_999 - i));
  });

  it('takes parameters by position and by name, and types that depend on them', async () => {
    expect(await readRows(connection, 'SELECT $1::INTEGER + i AS a FROM range(2) t(i)', format, [5])).toEqual([{ a: 5 }, { a: 6 }]);
    expect(await readRows(connection, 'SELECT $x AS a, $y AS a', format, { x: 'text', y: 1.5 })).toEqual([{ a: 'text', a_2: 1.5 }]);
  });

  it('takes a text that ends in a semicolon or a comment, and one that begins with WITH', async () => {
    expect(await readRows(connection, 'SELECT 1 AS a ; \n', format)).toEqual([{ a: 1 }]);
    expect(await readRows(connection, 'WITH t AS (SELECT 2 AS a) FROM t -- all of it', format)).toEqual([{ a: 2 }]);
  });

  it('mixes short, long, empty and missing text', async () => {
    const sql =
      "SELECT CASE i % 5 WHEN 0 THEN '' WHEN 1 THEN NULL WHEN 2 THEN 'short' WHEN 3 THEN repeat('é', i % 90) ELSE i || ' is longer than that' END AS s FROM range(9000) t(i)";
    const expected = Array.from({ length: 9000 }, (_, i) => ['', null, 'short', 'é'.repeat(i % 90), `${i} is longer than that`][i % 5]);
    expect((await readRows(connection, sql, format)).map((row) => row.s)).toEqual(expected);
  });

  it('says what is wrong with a query before anything was sent', async () => {
    await expect(startRows(connection, 'SELECT nope', undefined, format)).rejects.toThrow(/nope/);
    await expect(collect(streamRows(connection, 'SELECT nope', undefined, format))).rejects.toThrow(/nope/);
  });

  it('fails where the query fails on the way, and leaves the connection usable', async () => {
    const sql = "SELECT CASE WHEN i = 200000 THEN error('too far') ELSE i END AS i FROM range(300000) t(i)";
    await expect(collect(streamRows(connection, sql, undefined, format))).rejects.toThrow(/failed or was stopped/);
    expect(await readRows(connection, 'SELECT 1 AS a', format)).toEqual([{ a: 1 }]);
  });

  it('stops the query when the reader goes away, in the middle and before the first row', async () => {
    const endless = 'SELECT i, i::VARCHAR AS s FROM range(1000000000000) t(i)';
    const body = streamRows(connection, endless, undefined, format);
    await once(body, 'data');
    body.destroy();
    await once(body, 'close');
    const slow = 'SELECT count(*) AS n FROM range(1000000) a(i), range(1000000) b(j) WHERE (i * j) % 7 = 3';
    for (const waitMs of [0, 5, 200]) {
      const blocked = streamRows(connection, slow, undefined, format);
      blocked.resume();
      await delay(waitMs);
      blocked.destroy();
      await once(blocked, 'close');
    }
    expect(await readRows(connection, 'SELECT 1 AS a', format)).toEqual([{ a: 1 }]);
  });

  it('waits for a slow reader instead of filling the memory', async () => {
    const body = streamRows(connection, "SELECT i, repeat('x', 200) AS s FROM range(100000000) t(i)", undefined, format);
    await once(body, 'readable');
    await delay(300);
    expect(body.readableLength).toBeLessThan(2_000_000);
    const before = process.memoryUsage().rss;
    let bytes = 0;
    body.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > 200_000_000) body.destroy();
    });
    await once(body, 'close');
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  it('gives pieces of a handy size', async () => {
    const sizes: number[] = [];
    const body = streamRows(connection, 'SELECT i, i AS j FROM range(200000) t(i)', undefined, format);
    body.on('data', (piece: Buffer) => sizes.push(piece.length));
    await once(body, 'close');
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024);
    expect(sizes.length).toBeLessThan(80);
  });

  it('gives any text back as it was', async () => {
    const value = fc.option(fc.string({ unit: 'grapheme', maxLength: 40 }), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 50 }), async (values) => {
        const sql = 'SELECT unnest(CAST($1::JSON AS VARCHAR[])) AS v';
        const rows = await readRows(connection, sql, format, [JSON.stringify(values)]);
        expect(rows.map((row) => row.v)).toEqual(values);
      }),
      { numRuns: 30 },
    );
  });
});

it('gives up a reader who takes nothing any more', async () => {
  const { body } = await startRows(connection, "SELECT repeat('x', 1000) AS s FROM range(10000) t(i)", undefined, 'ndjson');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await once(body, 'readable');
    const failed = once(body, 'error');
    vi.advanceTimersByTime(maxIdleMs);
    expect(String(await failed)).toContain('took nothing');
  } finally {
    vi.useRealTimers();
  }
  expect(await readRows(connection, 'SELECT 1 AS a', 'json')).toEqual([{ a: 1 }]);
});

it('lets go of the connection when a started body is never read', async () => {
  const { body } = await startRows(connection, 'SELECT i FROM range(10000000) t(i)', undefined, 'arrow');
  body.destroy();
  await once(body, 'close');
  await connection.run('BEGIN');
  await connection.run('COMMIT');
});

it('begins before it sends, and tells the columns', async () => {
  const { columns, body } = await startRows(connection, 'SELECT 1::BIGINT AS a, NULL::DECIMAL(5,2) AS a', undefined, 'ndjson');
  expect(columns.map(({ name, type }) => [name, String(type)])).toEqual([
    ['a', 'BIGINT'],
    ['a_2', 'DECIMAL(5,2)'],
  ]);
  expect((await collect(body)).toString()).toBe('{"a":1,"a_2":null}\n');
});

it('sends nothing of what the memory held under a NULL', async () => {
  const types = ['BIGINT', 'INTEGER', 'DOUBLE', 'DECIMAL(18,2)', 'DECIMAL(38,2)', 'TIMESTAMP', 'BOOLEAN', 'VARCHAR'];
  await connection.run(
    "CREATE OR REPLACE TEMP TABLE secrets AS SELECT 'secret secret secret' || i AS s, i * 7919 AS n FROM range(50000) t(i)",
  );
  await connection.runAndReadAll('SELECT s || s, n FROM secrets');
  const list = types.map(
    (type, i) =>
      `CASE WHEN i % 2 = 0 THEN NULL ELSE 1::INTEGER END::${type === 'TIMESTAMP' ? 'VARCHAR' : type}${type === 'TIMESTAMP' ? '::DATE::TIMESTAMP' : ''} AS v${i}`,
  );
  const sql = `SELECT ${list.join(', ').replaceAll('1::INTEGER END::VARCHAR::DATE', "'2000-01-01' END::DATE")} FROM range(4096) t(i)`;
  const table = arrow.tableFromIPC(await collect(streamRows(connection, sql, undefined, 'arrow')));
  for (const [i, type] of types.entries()) {
    for (const data of table.getChildAt(i)?.data ?? []) {
      if (type === 'VARCHAR') expect(Buffer.from(data.values).toString()).toBe('1'.repeat(data.length / 2));
      else if (type === 'BOOLEAN') expect(new Set(data.values.subarray(0, data.length / 8))).toEqual(new Set([0b10101010]));
      else expect(nonZeroUnderNulls(data)).toBe(0);
    }
  }
});

function nonZeroUnderNulls(data: arrow.Data): number {
  const { values, length } = data;
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const width = (values.BYTES_PER_ELEMENT * data.stride) as number;
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (!data.getValid(row) && bytes.subarray(row * width, (row + 1) * width).some((byte) => byte !== 0)) count += 1;
  }
  return count;
}
