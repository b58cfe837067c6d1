import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { selectResult } from '../../store/duckdb/sandbox/resultTypes.ts';
import { useSandbox } from './world.ts';

const { world, sandbox } = await useSandbox();

const answers: [what: string, sql: string, rows: unknown[], params?: unknown[] | Record<string, unknown>][] = [
  ['a filter', "SELECT 店, 金額 FROM 売上 WHERE 月 = '2024-05'", [{ 店: '東京', 金額: 300 }]],
  [
    'a group',
    'SELECT 月, sum(金額) AS 計 FROM 売上 GROUP BY 1 ORDER BY 1',
    [
      { 月: '2024-04', 計: 300 },
      { 月: '2024-05', 計: 300 },
    ],
  ],
  ['every digit of a DECIMAL', 'SELECT 単価 FROM 売上 ORDER BY 単価', [{ 単価: '1.50' }, { 単価: '2.25' }, { 単価: '3.00' }]],
  ['a date', 'SELECT max(日付) AS d FROM 売上', [{ d: '2024-05-01' }]],
  [
    'a join',
    'SELECT s.県, t.金額 FROM 売上 t JOIN 店舗 s USING (店) ORDER BY 金額',
    [
      { 県: '東京都', 金額: 100 },
      { 県: '大阪府', 金額: 200 },
      { 県: '東京都', 金額: 300 },
    ],
  ],
  ['a left join', 'SELECT s.店 FROM 店舗 s LEFT JOIN 売上 t ON s.店 = t.店 WHERE t.店 IS NULL', [{ 店: '名古屋' }]],
  ['a natural join', 'SELECT count(*) AS n FROM (SELECT 店 FROM 売上) NATURAL JOIN (SELECT 店 FROM 店舗)', [{ n: 3 }]],
  [
    'a window',
    'SELECT 金額, rank() OVER (ORDER BY 金額 DESC) AS r FROM 売上 ORDER BY r',
    [
      { 金額: 300, r: 1 },
      { 金額: 200, r: 2 },
      { 金額: 100, r: 3 },
    ],
  ],
  [
    'QUALIFY',
    'SELECT 店, 金額 FROM 売上 QUALIFY row_number() OVER (PARTITION BY 店 ORDER BY 金額 DESC) = 1 ORDER BY 金額',
    [
      { 店: '大阪', 金額: 200 },
      { 店: '東京', 金額: 300 },
    ],
  ],
  ['CTEs', 'WITH a AS (SELECT 金額 FROM 売上), b AS (SELECT max(金額) AS m FROM a) SELECT m FROM b', [{ m: 300 }]],
  ['a CTE that hides a table', 'WITH 売上 AS (SELECT 1 AS x) SELECT * FROM 売上', [{ x: 1 }]],
  ['a recursive CTE', 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT sum(i) AS s FROM n', [{ s: 10 }]],
  ['a subquery', 'SELECT 金額 FROM 売上 WHERE 金額 > (SELECT avg(金額) FROM 売上)', [{ 金額: 300 }]],
  [
    'a correlated subquery',
    'SELECT 店 FROM 店舗 s WHERE EXISTS (FROM 売上 t WHERE t.店 = s.店) ORDER BY 店',
    [{ 店: '大阪' }, { 店: '東京' }],
  ],
  ['set operations', 'SELECT 店 FROM 店舗 EXCEPT SELECT 店 FROM 売上', [{ 店: '名古屋' }]],
  [
    'VALUES',
    "VALUES (1, 'a'), (2, 'b')",
    [
      { col0: 1, col1: 'a' },
      { col0: 2, col1: 'b' },
    ],
  ],
  ['FROM first', 'FROM 店舗 SELECT 県 WHERE 店 = $1', [{ 県: '大阪府' }], ['大阪']],
  [
    'star and its changes',
    'SELECT * EXCLUDE (単価, 日付, __svc_row_id) REPLACE (金額 * 2 AS 金額) RENAME (店 AS 支店) FROM 売上 WHERE 金額 = 100',
    [{ 月: '2024-04', 支店: '東京', 金額: 200 }],
  ],
  ['COLUMNS', "SELECT COLUMNS('金|月') FROM 売上 LIMIT 1", [{ 月: '2024-04', 金額: 100 }]],
  ['the row id', 'SELECT __svc_row_id FROM 売上 ORDER BY 1 DESC LIMIT 1', [{ __svc_row_id: 3 }]],
  [
    'PIVOT with values',
    "PIVOT (SELECT 店, 月, 金額 FROM 売上) ON 月 IN ('2024-04', '2024-05') USING sum(金額) ORDER BY 店",
    [
      { 店: '大阪', '2024-04': 200, '2024-05': null },
      { 店: '東京', '2024-04': 100, '2024-05': 300 },
    ],
  ],
  [
    'the same without PIVOT',
    "SELECT 店, sum(金額) FILTER (月 = '2024-04') AS apr FROM 売上 GROUP BY 店 ORDER BY 店",
    [
      { 店: '大阪', apr: 200 },
      { 店: '東京', apr: 100 },
    ],
  ],
  [
    'UNPIVOT',
    'UNPIVOT (SELECT 店, 県 FROM 店舗 LIMIT 1) ON 店, 県 INTO NAME n VALUE v',
    [
      { n: '店', v: '東京' },
      { n: '県', v: '東京都' },
    ],
  ],
  ['range', 'SELECT * FROM range(2, 4)', [{ range: 2 }, { range: 3 }]],
  [
    'generate_series and unnest',
    'SELECT a, b FROM generate_series(1, 2) g(a), unnest([10]) u(b)',
    [
      { a: 1, b: 10 },
      { a: 2, b: 10 },
    ],
  ],
  [
    'lambdas and lists',
    'SELECT list_transform([1, 2], lambda x: x * 2) AS l, [x + 1 FOR x IN [1, 2] IF x > 1] AS c',
    [{ l: [2, 4], c: [3] }],
  ],
  [
    'structs, maps and JSON',
    `SELECT {'a': 1}.a AS s, MAP {'k': 'v'} AS m, '{"x": [1]}'::JSON->'$.x' AS j`,
    [{ s: 1, m: { k: 'v' }, j: [1] }],
  ],
  ['a whole row', 'SELECT s FROM 店舗 s WHERE 店 = $1', [{ s: { 店: '東京', 県: '東京都', __svc_row_id: 1 } }], ['東京']],
  ['methods on columns', "SELECT 店.length() AS n, s.店.length() AS m FROM 店舗 s WHERE 店 = '名古屋'", [{ n: 3, m: 3 }]],
  ['TABLESAMPLE', 'SELECT count(*) AS n FROM 売上 TABLESAMPLE 100%', [{ n: 3 }]],
  ['a positional join', 'SELECT a.x, b.y FROM (VALUES (1)) a(x) POSITIONAL JOIN (VALUES (2)) b(y)', [{ x: 1, y: 2 }]],
  [
    'GROUPING SETS',
    'SELECT 月, sum(金額) AS s, grouping(月) AS g FROM 売上 GROUP BY ROLLUP (月) ORDER BY g, 月',
    [
      { 月: '2024-04', s: 300, g: 0 },
      { 月: '2024-05', s: 300, g: 0 },
      { 月: null, s: 600, g: 1 },
    ],
  ],
  [
    'keywords as names',
    'SELECT "from", "group by", "user" FROM "select" WHERE "user" = \'bob\'',
    [{ from: 'b', 'group by': 2, user: 'bob' }],
  ],
  ['a column called user', 'SELECT user FROM "select" ORDER BY user LIMIT 1', [{ user: 'ann' }]],
  ['quotes in names', 'SELECT "a""b", "c\'d" FROM "odd ""name"".csv; DROP" ORDER BY 1 LIMIT 1', [{ 'a"b': 10, "c'd": 'x' }]],
  ["a name of the engine's own", 'SELECT n FROM pg_class', [{ n: 7 }]],
  ['names without regard to case', "SELECT K FROM EDITED WHERE K = 'a'", [{ k: 'a' }]],
  [
    'rows that are not in files',
    'SELECT k, v FROM "Edited" ORDER BY k',
    [
      { k: 'a', v: 1 },
      { k: 'b', v: 20 },
      { k: 'c', v: 3 },
      { k: 'd', v: 4 },
    ],
  ],
  ['duplicate names', 'SELECT 1 AS a, 2 AS a, 3 AS "A"', [{ a: 1, a_2: 2, A_3: 3 }]],
  [
    'a column that is called rowid',
    "SELECT 5000 - i * 1000 AS rowid, 'x' AS v0 FROM range(2) AS t(i)",
    [
      { rowid: 5000, v0: 'x' },
      { rowid: 4000, v0: 'x' },
    ],
  ],
  ['blanks and comments', '  /* a */ SELECT　1 AS x -- the end\n ; ', [{ x: 1 }]],
  ['no rows', 'SELECT 1 AS x WHERE false', []],
  ['parameters by position', 'SELECT $2::VARCHAR AS b, $1 + 1 AS a', [{ b: 'x', a: 2 }], [1, 'x']],
  ['parameters by ?', 'SELECT ? + ? AS s', [{ s: 3.5 }], [1, 2.5]],
  [
    'parameters by name',
    'SELECT 店 FROM 売上 WHERE 金額 >= $least AND 日付 < $day ORDER BY 金額',
    [{ 店: '大阪' }],
    { least: 200, day: '2024-05-01' },
  ],
  ['a list as parameter', 'SELECT 金額 FROM 売上 WHERE 店 IN (SELECT unnest($1)) ORDER BY 1', [{ 金額: 200 }], [['大阪', '札幌']]],
  [
    'null, true, and a large number',
    'SELECT $1 AS n, $2 AS t, $3 AS big',
    [{ n: null, t: true, big: 9007199254740991 }],
    [null, true, 9007199254740991],
  ],
  ['a parameter that looks like SQL', 'SELECT $1 AS x', [{ x: "'; DROP TABLE 売上; --" }], ["'; DROP TABLE 売上; --"]],
  ['LIMIT as a parameter', 'SELECT 金額 FROM 売上 ORDER BY 1 LIMIT $n', [{ 金額: 100 }], { n: 1 }],
];

describe('runQuery', () => {
  it.each(answers)('%s', async (_, sql, rows, params) => {
    expect(await world.rows(sandbox, sql, { params })).toEqual(rows);
  });

  it('writes values as the wire wants them', async () => {
    const [row] = await world.rows(
      sandbox,
      `SELECT 9007199254740993::BIGINT AS big, 7::BIGINT AS small, 170141183460469231731687303715884105727::HUGEINT AS huge, 1.10::DECIMAL(9,2) AS dec,
        'NaN'::DOUBLE AS nan, 1.5::DOUBLE AS dbl, TIMESTAMP '2024-04-01 10:00:00.5' AS ts, TIME '10:00:00' AS tm, TIMESTAMPTZ '2024-04-01 10:00:00+09' AS tz,
        INTERVAL 1 DAY AS iv, 'a'::ENUM('a', 'b') AS en, '\\xAA'::BLOB AS bl, '0101'::BIT AS bi, '00000000-0000-0000-0000-000000000001'::UUID AS u,
        [9007199254740993::BIGINT] AS l, {'d': 1.10::DECIMAL(9,2)} AS s, NULL AS n, union_value(k := 3) AS un, row(1, 'x') AS ro`,
    );
    expect(row).toEqual({
      big: '9007199254740993',
      small: 7,
      huge: '170141183460469231731687303715884105727',
      dec: '1.10',
      nan: null,
      dbl: 1.5,
      ts: '2024-04-01T10:00:00.500000',
      tm: '10:00:00',
      tz: '2024-04-01T01:00:00Z',
      iv: '1 day',
      en: 'a',
      bl: 'qg==',
      bi: '0101',
      u: '00000000-0000-0000-0000-000000000001',
      l: ['9007199254740993'],
      s: { d: '1.10' },
      n: null,
      un: '3',
      ro: { v1: 1, v2: 'x' },
    });
  });

  it('keeps the whole result as Parquet, every type with every digit', async () => {
    const sql = `SELECT i, 170141183460469231731687303715884105727::HUGEINT AS huge, [1::HUGEINT] AS list, INTERVAL '1 month 2 days 00:00:00.000001' AS iv, '0101'::BIT AS bits,
      MAP {'k': 1::HUGEINT} AS m, TIMETZ '10:00:00+09' AS tz, {'a': 'x'::ENUM('x')} AS st, '{"a":1.50}'::JSON AS j, TIMESTAMP_NS '2024-04-01 00:00:00.000000001' AS ns, 1.50::DECIMAL(38,2) AS d
      FROM range(50000) r(i)`;
    const result = await world.run(sandbox, sql, { keepResult: true, pageLimit: 2 });
    expect(result).toMatchObject({ rowCount: 50_000, more: true });
    expect(JSON.parse(String(result.pageJson))).toHaveLength(2);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const path = result.resultFile as string;
    const [back] = (
      await connection.runAndReadAll(
        `SELECT count(*) AS n, min(i) AS lo, max(i) AS hi, any_value(huge)::VARCHAR AS huge, any_value(iv)::VARCHAR AS iv, any_value(m)::VARCHAR AS m, any_value(tz)::VARCHAR AS tz, any_value(ns)::VARCHAR AS ns, any_value(j)::VARCHAR AS j FROM (${selectResult(path, result.columns)})`,
      )
    ).getRowObjectsJson();
    expect(back).toEqual({
      n: '50000',
      lo: '0',
      hi: '49999',
      huge: '170141183460469231731687303715884105727',
      iv: '1 month 2 days 00:00:00.000001',
      m: '{k=1}',
      tz: '10:00:00+09',
      ns: '2024-04-01 00:00:00.000000001',
      j: '{"a":1.50}',
    });
    const groups = (
      await connection.runAndReadAll(`SELECT DISTINCT row_group_num_rows, compression FROM parquet_metadata('${path}') ORDER BY 1`)
    ).getRowsJson();
    expect(groups).toEqual([
      ['9040', 'UNCOMPRESSED'],
      ['20480', 'UNCOMPRESSED'],
    ]);
    await rm(path);
  });

  it('hands a small result over as such, and a larger one as a file', async () => {
    const keep = (sql: string) => world.run(sandbox, sql, { keepResult: true, inlineBytes: { rows: 0, file: 10_000 }, pageLimit: 1 });
    const small = await keep('SELECT range FROM range(10)');
    expect(small).toMatchObject({ rowCount: 10, pageJson: Buffer.from('[{"range":0}]'), resultFile: null });
    const path = join(world.dir, 'small.parquet');
    await writeFile(path, small.content?.bytes ?? '');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    expect((await connection.runAndReadAll(`SELECT sum(range)::INT FROM (${selectResult(path, small.columns)})`)).getRows()).toEqual([
      [45],
    ]);
    const large = await keep('SELECT range FROM range(10000)');
    expect(large).toMatchObject({ rowCount: 10_000, content: null, pageJson: Buffer.from('[{"range":0}]') });
    await rm(large.resultFile as string);
  });

  it('keeps the order of rows, however sparse they are', async () => {
    const result = await world.rows(sandbox, 'SELECT i FROM range(3000000) r(i) WHERE i % 1000 = 7', { pageLimit: 10_000 });
    expect(result.map(({ i }) => i)).toEqual(Array.from({ length: 3000 }, (_, i) => i * 1000 + 7));
  });

  it('stops after the page when no result is kept', async () => {
    const result = await world.run(sandbox, 'SELECT * FROM range(100000000000)', { pageLimit: 3, timeoutMs: 60_000 });
    expect(result).toMatchObject({
      rowCount: 3,
      more: true,
      pageJson: Buffer.from('[{"range":0},\n{"range":1},\n{"range":2}]'),
      resultFile: null,
    });
  });

  it('tells what a query would read before anything is built', async () => {
    const plan = await sandbox.analyze({
      userId: 'usr_1',
      sql: 'SELECT t.金額, s.県 FROM 売上 t JOIN 店舗 s USING (店) WHERE 月 = $month',
      tables: world.relations.map(({ name }) => ({ name })),
    });
    expect(plan).toMatchObject({ tables: ['売上', '店舗'], parameters: ['month'], allColumns: false });
    expect([...plan.columns].sort()).toEqual(['s', 't', '店', '月', '県', '金額'].sort());
    expect(plan.normalisedSql).toContain('INNER JOIN');
  });
});
