import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { DomainError } from '../../core/errors.ts';
import type { InputColumn } from '../../core/lineage/inputs.ts';
import { openSandbox } from '../../store/duckdb/sandbox/sandbox.ts';

/** What each column of a query depends on, exactly, for every kind of operator. */

const dir = await mkdtemp(join(tmpdir(), 'svc-lineage-test-'));
const sandbox = await openSandbox({ dir, searchPath: (process.env.PATH ?? '').split(delimiter), processes: 1 });
afterAll(async () => {
  await sandbox.close();
  await rm(dir, { recursive: true, force: true });
});

const columnsOf = (types: Record<string, string>) => Object.entries(types).map(([name, type]) => ({ name, type, masked: false }));
const relations = [
  { name: 't', columns: columnsOf({ a: 'BIGINT', b: 'BIGINT', s: 'VARCHAR', d: 'DOUBLE', l: 'BIGINT[]' }) },
  { name: 'u', columns: columnsOf({ a: 'BIGINT', c: 'BIGINT', e: 'VARCHAR' }) },
  { name: '売上 "明細"', columns: columnsOf({ '金額 (円)': 'BIGINT', 'a"b': 'VARCHAR', C0: 'BIGINT' }) },
];
const plan = (sql: string) => sandbox.plan({ userId: 'usr_1', sql, relations, timeoutMs: 20_000 });

/** `t.*` stands for the rows of t. */
const write = (places: InputColumn[]) =>
  places
    .map(({ table, column }) => `${table}.${column ?? '*'}`)
    .sort()
    .join(' ');

async function trace(sql: string): Promise<Record<string, string>> {
  const { lineage } = await plan(sql);
  const columns = lineage.columns.map(({ name, computedFrom, decidedBy }) => [
    name,
    decidedBy.length === 0 ? write(computedFrom) : `${write(computedFrom)} | ${write(decidedBy)}`,
  ]);
  return { ...Object.fromEntries(columns), rows: write(lineage.rows) };
}

describe('column lineage', () => {
  it.each<[string, string, Record<string, string>]>([
    ['a column', 'SELECT a FROM t', { a: 't.a', rows: 't.*' }],
    ['a constant', 'SELECT 1 AS one, a FROM t', { one: '', a: 't.a', rows: 't.*' }],
    ['no table', 'SELECT 1 AS one', { one: '', rows: '' }],
    ['an expression', 'SELECT a + b AS n, upper(s) AS up FROM t', { n: 't.a t.b', up: 't.s', rows: 't.*' }],
    ['a case', "SELECT CASE WHEN s = 'x' THEN a ELSE b END AS n FROM t", { n: 't.a t.b t.s', rows: 't.*' }],
    ['a star', 'SELECT * FROM u', { a: 'u.a', c: 'u.c', e: 'u.e', rows: 'u.*' }],
    ['a star without some', 'SELECT * EXCLUDE (a) REPLACE (c + a AS c) FROM u', { c: 'u.a u.c', e: 'u.e', rows: 'u.*' }],
    ['a whole row', 'SELECT u FROM u', { u: 'u.a u.c u.e', rows: 'u.*' }],
    ['columns by pattern', "SELECT COLUMNS('[ac]') FROM u", { a: 'u.a', c: 'u.c', rows: 'u.*' }],
    ['renamed columns', 'SELECT y FROM u AS v(x, y)', { y: 'u.c', rows: 'u.*' }],
    ['a column that is dropped', 'SELECT a FROM (SELECT a, b / d AS n FROM t)', { a: 't.a', rows: 't.*' }],
    [
      'odd names',
      'SELECT "金額 (円)", "c0" AS x FROM "売上 ""明細"""',
      { '金額 (円)': '売上 "明細".金額 (円)', x: '売上 "明細".C0', rows: '売上 "明細".*' },
    ],
    ['a lambda', 'SELECT list_transform(l, lambda x: x + a) AS n FROM t', { n: 't.a t.l', rows: 't.*' }],
    [
      'a nested lambda',
      'SELECT list_transform(l, lambda x: list_sum(list_transform(l, lambda y: y + x + b))) AS n FROM t',
      { n: 't.b t.l', rows: 't.*' },
    ],
    ['list functions', 'SELECT list_sum(l) AS n, l[a] AS m FROM t', { n: 't.l', m: 't.a t.l', rows: 't.*' }],
    ['a struct', 'SELECT struct_pack(x := a, y := b).x AS n FROM t', { n: 't.a t.b', rows: 't.*' }],

    ['a filter', "SELECT a FROM t WHERE s = 'x'", { a: 't.a', rows: 't.* t.s' }],
    ['an order', 'SELECT a FROM t ORDER BY b', { a: 't.a', rows: 't.* t.b' }],
    ['a limit', 'SELECT a FROM t LIMIT 3', { a: 't.a', rows: 't.*' }],
    ['a limit by a subquery', 'SELECT a FROM t LIMIT (SELECT max(c) FROM u)', { a: 't.a', rows: 't.* u.* u.c' }],
    ['a sample', 'SELECT a FROM t USING SAMPLE 3', { a: 't.a', rows: 't.*' }],
    ['distinct', 'SELECT DISTINCT a, b FROM t', { a: 't.a', b: 't.b', rows: 't.* t.a t.b' }],
    ['distinct on', 'SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, d', { a: 't.a', b: 't.b', rows: 't.* t.a t.d' }],

    ['an inner join', 'SELECT b, c FROM t JOIN u USING (a)', { b: 't.b', c: 'u.c', rows: 't.* t.a u.* u.a' }],
    ['a column of USING', 'SELECT a FROM t JOIN u USING (a)', { a: 't.a', rows: 't.* t.a u.* u.a' }],
    ['a full join', 'SELECT a, c FROM t FULL JOIN u USING (a)', { a: 't.a u.a', c: 'u.c', rows: 't.* t.a u.* u.a' }],
    ['a left join', 'SELECT b, c FROM t LEFT JOIN u ON t.a = u.a AND t.d < u.c', { b: 't.b', c: 'u.c', rows: 't.* t.a t.d u.* u.a u.c' }],
    ['a right join', 'SELECT b, c FROM t RIGHT JOIN u ON t.a = u.a', { b: 't.b', c: 'u.c', rows: 't.* t.a u.* u.a' }],
    ['a join by an expression', 'SELECT b, c FROM t JOIN u ON t.a + u.a > 3', { b: 't.b', c: 'u.c', rows: 't.* t.a u.* u.a' }],
    ['a join by either', 'SELECT b FROM t LEFT JOIN u ON t.a = u.a OR t.s = u.e', { b: 't.b', rows: 't.* t.a t.s u.* u.a u.e' }],
    ['a natural join', 'SELECT b FROM t NATURAL JOIN u', { b: 't.b', rows: 't.* t.a u.* u.a' }],
    ['a cross join', 'SELECT b, c FROM t, u', { b: 't.b', c: 'u.c', rows: 't.* u.*' }],
    ['a join with itself', 'SELECT x.a, y.b FROM t x JOIN t y ON x.s = y.s', { a: 't.a', b: 't.b', rows: 't.* t.s' }],
    ['a semi join', 'SELECT b FROM t SEMI JOIN u USING (a)', { b: 't.b', rows: 't.* t.a u.* u.a' }],
    ['an anti join', 'SELECT b FROM t ANTI JOIN u ON t.a = u.a', { b: 't.b', rows: 't.* t.a u.* u.a' }],
    ['an asof join', 'SELECT b, c FROM t ASOF JOIN u ON t.a >= u.a', { b: 't.b', c: 'u.c', rows: 't.* t.a u.* u.a' }],
    ['a positional join', 'SELECT b, c FROM t POSITIONAL JOIN u', { b: 't.b', c: 'u.c', rows: 't.* u.*' }],
    [
      'a lateral join',
      'SELECT b, x.c FROM t, LATERAL (SELECT c FROM u WHERE u.a = t.a) x',
      { b: 't.b', c: 'u.c', rows: 't.* t.a u.* u.a' },
    ],

    ['a count', 'SELECT count(*) AS n FROM t', { n: ' | t.*', rows: '' }],
    ['one row whatever', "SELECT sum(b) AS n, 1 AS one FROM t WHERE s = 'x'", { n: 't.b | t.* t.s', one: '', rows: '' }],
    ['a grouping', 'SELECT s, sum(b) AS n FROM t GROUP BY s', { s: 't.s', n: 't.b | t.* t.s', rows: 't.* t.s' }],
    ['groups that are not shown', 'SELECT sum(b) AS n FROM t GROUP BY s, d', { n: 't.b | t.* t.d t.s', rows: 't.* t.d t.s' }],
    ['having', 'SELECT s FROM t GROUP BY s HAVING sum(d) > 0', { s: 't.s', rows: 't.* t.d t.s' }],
    ['a filtered aggregate', 'SELECT sum(b) FILTER (d > 0) AS n FROM t', { n: 't.b | t.* t.d', rows: '' }],
    ['an ordered aggregate', 'SELECT first(a ORDER BY b) AS n, max(a) AS m FROM t', { n: 't.a | t.* t.b', m: 't.a | t.*', rows: '' }],
    ['the value at the largest', 'SELECT arg_max(a, b) AS n FROM t', { n: 't.a t.b | t.*', rows: '' }],
    [
      'a rollup',
      'SELECT s, a, grouping(s) AS g, count(*) AS n FROM t GROUP BY ROLLUP (s, a)',
      { s: 't.s', a: 't.a', g: '', n: ' | t.* t.a t.s', rows: 't.* t.a t.s' },
    ],
    ['grouping sets', 'SELECT s, sum(b) AS n FROM t GROUP BY GROUPING SETS ((s), ())', { s: 't.s', n: 't.b | t.* t.s', rows: 't.* t.s' }],
    ['group by all', 'SELECT s, sum(b) AS n FROM t GROUP BY ALL', { s: 't.s', n: 't.b | t.* t.s', rows: 't.* t.s' }],

    ['a window', 'SELECT a, sum(b) OVER (PARTITION BY s ORDER BY d) AS n FROM t', { a: 't.a', n: 't.b | t.d t.s', rows: 't.*' }],
    [
      'a window frame',
      'SELECT sum(b) OVER (ORDER BY d ROWS BETWEEN a PRECEDING AND CURRENT ROW) AS n FROM t',
      { n: 't.b | t.a t.d', rows: 't.*' },
    ],
    ['lag with a default', 'SELECT lag(b, 1, a) OVER (ORDER BY d) AS n FROM t', { n: 't.a t.b | t.d', rows: 't.*' }],
    ['a filtered window', 'SELECT sum(b) FILTER (a > 1) OVER () AS n FROM t', { n: 't.b | t.a', rows: 't.*' }],
    [
      'a named window',
      'SELECT rank() OVER w AS n, a FROM t WINDOW w AS (PARTITION BY s ORDER BY b)',
      { n: ' | t.b t.s', a: 't.a', rows: 't.*' },
    ],
    ['qualify', 'SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY s ORDER BY b) = 1', { a: 't.a', rows: 't.* t.b t.s' }],

    ['a scalar subquery', 'SELECT b, (SELECT max(c) FROM u) AS m FROM t', { b: 't.b', m: 'u.c | u.*', rows: 't.*' }],
    [
      'a correlated one',
      'SELECT b, (SELECT max(c) FROM u WHERE u.a = t.a) AS m FROM t',
      { b: 't.b', m: 'u.c | t.* t.a u.* u.a', rows: 't.*' },
    ],
    [
      'a correlated count',
      'SELECT b, (SELECT count(*) FROM u WHERE u.a = t.a) AS m FROM t',
      { b: 't.b', m: ' | t.* t.a u.* u.a', rows: 't.*' },
    ],
    [
      'correlated twice',
      'SELECT b, (SELECT sum(c) FROM u WHERE u.a = t.a AND u.c = (SELECT max(w.c) FROM u w WHERE w.e = u.e AND w.a = t.d)) AS m FROM t',
      { b: 't.b', m: 'u.c | t.* t.a t.d u.* u.a u.c u.e', rows: 't.*' },
    ],
    ['in', 'SELECT b FROM t WHERE a IN (SELECT a FROM u WHERE c > 1)', { b: 't.b', rows: 't.* t.a u.* u.a u.c' }],
    ['in, shown', 'SELECT b, a IN (SELECT a FROM u) AS i FROM t', { b: 't.b', i: 't.a u.a | u.*', rows: 't.*' }],
    ['not in by two', 'SELECT s FROM t WHERE (a, b) NOT IN (SELECT a, c FROM u)', { s: 't.s', rows: 't.* t.a t.b u.* u.a u.c' }],
    ['exists', 'SELECT b FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)', { b: 't.b', rows: 't.* t.a u.* u.a' }],
    ['not exists, alone', 'SELECT b FROM t WHERE NOT EXISTS (SELECT e FROM u)', { b: 't.b', rows: 't.* u.*' }],
    ['all', 'SELECT b FROM t WHERE a > ALL (SELECT c FROM u)', { b: 't.b', rows: 't.* t.a u.* u.c' }],

    ['a union', 'SELECT a, b FROM t UNION ALL SELECT a, c FROM u', { a: 't.a u.a', b: 't.b u.c', rows: 't.* u.*' }],
    ['a union by name', 'SELECT b, a FROM t UNION ALL BY NAME SELECT a FROM u', { b: 't.b', a: 't.a u.a', rows: 't.* u.*' }],
    ['a distinct union', 'SELECT a FROM t UNION SELECT c FROM u', { a: 't.a u.c', rows: 't.* t.a u.* u.c' }],
    ['except', 'SELECT a FROM t EXCEPT SELECT c FROM u', { a: 't.a', rows: 't.* t.a u.* u.c' }],
    ['intersect all', 'SELECT a FROM t INTERSECT ALL SELECT c FROM u', { a: 't.a', rows: 't.* t.a u.* u.c' }],

    ['unnest', 'SELECT unnest(l) AS x, a FROM t', { x: 't.l', a: 't.a', rows: 't.* t.l' }],
    ['unnest as a table', 'SELECT a, x FROM t, unnest(l) z(x)', { a: 't.a', x: 't.l', rows: 't.* t.l' }],
    [
      'unnest in a subquery',
      'SELECT a, (SELECT sum(v) FROM (SELECT unnest(l) AS v)) AS n FROM t',
      { a: 't.a', n: 't.l | t.* t.l', rows: 't.*' },
    ],
    ['a series by a column', 'SELECT b, i FROM t, generate_series(1, a) g(i)', { b: 't.b', i: 't.a', rows: 't.* t.a' }],
    ['a series', 'SELECT i, b FROM range(3) r(i), t', { i: '', b: 't.b', rows: 't.*' }],
    ['values', 'SELECT x, b FROM t JOIN (VALUES (1, 2), (3, 4)) v(k, x) ON a = k', { x: '', b: 't.b', rows: 't.* t.a' }],
    ['unpivot', 'SELECT name, value FROM (UNPIVOT u ON a, c)', { name: '', value: 'u.a u.c', rows: 'u.* u.a u.c' }],

    [
      'pivot',
      "SELECT * FROM (PIVOT t ON s IN ('x', 'y') USING sum(b) GROUP BY a)",
      { a: 't.a', x: 't.b | t.* t.a t.s', y: 't.b | t.* t.a t.s', rows: 't.* t.a' },
    ],

    ['a CTE', 'WITH x AS (SELECT a, b FROM t WHERE d > 0) SELECT a FROM x', { a: 't.a', rows: 't.* t.d' }],
    [
      'a materialized CTE, twice',
      'WITH x AS MATERIALIZED (SELECT a, b FROM t WHERE d > 0) SELECT x.a, y.b FROM x, x y',
      { a: 't.a', b: 't.b', rows: 't.* t.d' },
    ],
    ['a CTE that is not read', 'WITH x AS MATERIALIZED (SELECT a FROM t) SELECT c FROM u', { c: 'u.c', rows: 'u.*' }],
    [
      'a recursive CTE',
      'WITH RECURSIVE r(n, k) AS (SELECT a, 0 FROM t UNION ALL SELECT n + 1, c FROM r JOIN u ON u.a = n WHERE n < 10) SELECT n, k FROM r',
      { n: 't.a', k: 'u.c', rows: 't.* t.a u.* u.a' },
    ],
    [
      'one that goes around',
      'WITH RECURSIVE r(x, y, z) AS (SELECT a, b, d FROM t UNION ALL SELECT y, z, x FROM r WHERE x < 3) SELECT x FROM r',
      { x: 't.a t.b t.d', rows: 't.* t.a t.b t.d' },
    ],
  ])('%s', async (_, sql, expected) => {
    expect(await trace(sql)).toEqual(expected);
  });

  it('is every column where the engine does not say', async () => {
    const values = Array.from({ length: 40 }, (_, i) => `'v${i}'`);
    const found = await trace(`SELECT * FROM (PIVOT t ON s IN (${values.join(', ')}) USING sum(b), max(d) GROUP BY a)`);
    expect(Object.keys(found)).toHaveLength(1 + 80 + 1);
    expect(new Set(Object.values(found))).toEqual(new Set(['t.* t.a t.b t.d t.l t.s']));
  });
});

describe('planning a query', () => {
  it('tells the columns and the tables that are read', async () => {
    const { tables, columns } = await plan('WITH x AS (SELECT a FROM T) SELECT a, a + 0.5 AS a FROM x');
    expect([tables, columns]).toEqual([
      ['t'],
      [
        { name: 'a', type: 'BIGINT' },
        { name: 'a_2', type: expect.stringMatching(/^DECIMAL/) },
      ],
    ]);
  });

  it.each([
    ['an unknown column', 'SELECT nope FROM t', 'query-failed', /nope/],
    ['an unknown table', 'SELECT 1 FROM v', 'query-refused', /no table "v"/],
    ['the name by which a table is planned', 'SELECT c0 FROM svc_input_0', 'query-refused', /no table/],
    ['the number of a row', 'SELECT rowid FROM t', 'query-failed', /rowid/],
    ['a parameter', 'SELECT $1 FROM t', 'validation-failed', /\$1/],
    ['two statements', 'SELECT 1; SELECT 2', 'query-refused', /Only one statement/],
    ['a file', "SELECT * FROM read_csv('/etc/passwd')", 'query-refused', /read_csv/],
    ['nothing', '', 'validation-failed', /empty/],
    ['a quote left open', "SELECT 'x", 'query-failed', /quote/],
  ])('refuses %s', async (_, sql, code, text) => {
    const error = (await plan(sql).catch((thrown: unknown) => thrown)) as DomainError;
    expect([error.code, error.detail]).toEqual([code, expect.stringMatching(text)]);
  });

  it('does not run the query', async () => {
    const { columns } = await plan("SELECT error('ran') AS x, (SELECT count(*) FROM range(100000000000)) AS n FROM t");
    expect(columns.map(({ name }) => name)).toEqual(['x', 'n']);
  });

  it('takes a table of many columns', async () => {
    const wide = [{ name: 'w', columns: columnsOf(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, 'BIGINT']))) }];
    const trace = async (sql: string) => (await sandbox.plan({ userId: 'usr_1', sql, relations: wide, timeoutMs: 20_000 })).lineage;
    const star = await trace('SELECT * FROM w');
    expect([star.columns.length, star.columns[2999]?.computedFrom, star.rows]).toEqual([
      3000,
      [{ table: 'w', column: 'k2999' }],
      [{ table: 'w', column: null }],
    ]);
    expect((await trace('SELECT k2998 FROM w WHERE k7 > 1')).columns[0]?.computedFrom).toEqual([{ table: 'w', column: 'k2998' }]);
  });
});
