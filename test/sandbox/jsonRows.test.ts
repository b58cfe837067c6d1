import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { selectResult, selectRows } from '../../store/duckdb/sandbox/resultTypes.ts';
import { takeRows, writeLines } from '../../store/duckdb/sandbox/takeRows.ts';
import { useSandbox } from './world.ts';

const { world, sandbox } = await useSandbox();

/** Values of each type, with the extremes of it. */
const values: [type: string, ...texts: string[]][] = [
  ['BOOLEAN', 'true', 'false'],
  ['TINYINT', '-128', '127'],
  ['USMALLINT', '0', '65535'],
  ['INTEGER', '-2147483648', '2147483647'],
  ['UINTEGER', '4294967295'],
  [
    'BIGINT',
    '0',
    '9007199254740991',
    '-9007199254740991',
    '9007199254740992',
    '-9007199254740992',
    '9223372036854775807',
    '-9223372036854775808',
  ],
  ['UBIGINT', '18446744073709551615', '1'],
  ['HUGEINT', '170141183460469231731687303715884105727', '-1', '9007199254740993'],
  ['DOUBLE', '0', '-0.0', '0.1', '-1.5e-7', '1e21', '1e300', '5e-324', '123456789.123456789', '1e-7', '100', '2.5'],
  ['DECIMAL(4,0)', '-9999', '0'],
  ['DECIMAL(4,4)', '0.5', '-0.0001', '0'],
  ['DECIMAL(9,2)', '-0.05', '1234567.89'],
  ['DECIMAL(18,3)', '999999999999999.999', '-0.001'],
  ['DECIMAL(38,10)', '9999999999999999999999999999.9999999999', '-0.0000000001'],
  ['VARCHAR', '', 'a', '支店', '"quoted" \\ back', 'line\nbreak', 'a,\nb', 'tab\t', '\u0001\u001f\u007f\u2028', '😀', "o'x", 'null', '{}'],
  ['DATE', '1970-01-01', '0001-01-01', '9999-12-31', '2024-02-29', '10000-01-01', 'infinity', '0044-03-15 (BC)'],
  [
    'TIMESTAMP',
    '1970-01-01 00:00:00',
    '1969-12-31 23:59:59.999999',
    '2024-02-29 12:00:00.1',
    '0001-01-01 00:00:00',
    '9999-12-31 23:59:59.999999',
    '-infinity',
  ],
  ['TIMESTAMPTZ', '2024-01-01 09:00:00+09', '1900-01-01 00:00:00.5+00', 'infinity'],
  ['TIME', '12:34:56.5', '00:00:00'],
  ['FLOAT', '0.1', '3.4e38'],
  ['UUID', '00000000-0000-0000-0000-000000000001'],
  ['JSON', '{"a":[1,2.50,"x"]}', 'null'],
  ['BIGINT[]', '[1, 9223372036854775807]'],
];

const listOf = (type: string, texts: string[]) => {
  const rows = [...texts.map((text) => `CAST('${text.replaceAll("'", "''")}' AS ${type})`), `CAST(NULL AS ${type})`];
  return `SELECT * FROM (VALUES ${rows.map((row, i) => `(${i}, ${row})`).join(', ')}) AS t(i, x)`;
};

const run = (sql: string, rows: number) => world.run(sandbox, sql, { keepResult: true, inlineBytes: { rows, file: 1_000_000 } });

describe('openJsonRows', () => {
  it.each(values)('writes %s as the engine does', async (type, ...texts) => {
    const sql = listOf(type, texts);
    const [ours, engine] = [await run(sql, 1_000_000), await run(sql, 0)];
    expect(engine.content?.form).toBe('file');
    expect(JSON.parse(String(ours.pageJson))).toEqual(JSON.parse(String(engine.pageJson)));
    expect(ours.columns).toEqual(engine.columns);
  });

  it.each(values)('keeps %s so that it can be read back', async (type, ...texts) => {
    const sql = listOf(type, texts);
    const [ours, engine] = [await run(sql, 1_000_000), await run(sql, 0)];
    const [rows, file] = [join(world.dir, 'rows.ndjson'), join(world.dir, 'rows.parquet')];
    await writeFile(file, engine.content?.bytes ?? '');
    const isRows = ours.content?.form === 'rows';
    await writeFile(rows, isRows ? writeLines(ours.content?.bytes ?? Buffer.alloc(0)) : (ours.content?.bytes ?? ''));
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const read = async (select: string) => (await connection.runAndReadAll(`SELECT x, typeof(x) FROM (${select}) ORDER BY i`)).getRows();
    expect(await read((isRows ? selectRows : selectResult)(rows, ours.columns))).toEqual(await read(selectResult(file, engine.columns)));
    connection.closeSync();
    instance.closeSync();
    await Promise.all([rm(rows), rm(file)]);
  });

  it('leaves to the engine what its text would lose', async () => {
    const formOf = async (sql: string) => (await run(sql, 1_000_000)).content?.form;
    expect(await formOf("SELECT CAST('nan' AS DOUBLE) AS x")).toBe('file');
    expect(await formOf("SELECT CAST('-infinity' AS DOUBLE) AS x")).toBe('file');
    expect(await formOf('SELECT chr(0) AS x')).toBe('file');
    expect(await formOf('SELECT [1] AS x')).toBe('file');
    expect(await formOf('SELECT 1.5 AS x')).toBe('rows');
    expect(await formOf('SELECT 1 AS x WHERE false')).toBe('rows');
  });

  it('leaves a result to the engine that is longer than wanted, whole', async () => {
    const sql = "SELECT range AS i, '支店' || range AS 店 FROM range(5000)";
    const [small, large] = [await run(sql, 1_000_000), await run(sql, 20_000)];
    expect([small.content?.form, large.content?.form]).toEqual(['rows', 'file']);
    expect([small.rowCount, large.rowCount]).toEqual([5000, 5000]);
    expect(large.pageJson.length).toBe(small.pageJson.length);
    expect(JSON.parse(String(large.pageJson))).toEqual(JSON.parse(String(small.pageJson)));
    expect(small.more).toBe(true);
  });

  it('names columns as the engine does', async () => {
    const sql = `SELECT 1 AS "a""b", 2 AS "a/b", 3 AS "~", 4 AS " ", 5 AS "0", 6 AS x, 7 AS x, 8 AS "日本"`;
    const [ours, engine] = [await run(sql, 1_000_000), await run(sql, 0)];
    expect(JSON.parse(String(ours.pageJson))).toEqual(JSON.parse(String(engine.pageJson)));
    const path = join(world.dir, 'names.ndjson');
    await writeFile(path, writeLines(ours.content?.bytes ?? Buffer.alloc(0)));
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    expect((await connection.runAndReadAll(selectRows(path, ours.columns))).getRows()).toEqual([[1, 2, 3, 4, 5, 6, 7, 8]]);
    await rm(path);
  });
});

describe('takeRows', () => {
  const rows = ['{"a":1}', '{"a":",\\n"}', '{"a":3}'];
  it.each([
    [0, 3],
    [0, 2],
    [1, 1],
    [2, 5],
    [3, 1],
    [9, 1],
    [0, 0],
  ])('from %d, %d of them', (offset, limit) => {
    expect(String(takeRows(Buffer.from(rows.join(',\n')), offset, limit))).toBe(rows.slice(offset, offset + limit).join(',\n'));
  });

  it('of nothing is nothing', () => {
    const nothing = Buffer.alloc(0);
    expect([String(takeRows(nothing, 0, 5)), writeLines(nothing)]).toEqual(['', '']);
  });
});
