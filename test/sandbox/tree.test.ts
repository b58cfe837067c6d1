import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { analyze, checkText } from '../../core/sql/analyze.ts';
import { checkTree, type KnownTable } from '../../core/sql/checkTree.ts';
import { allowedFunctions, allowedTableFunctions, whyFunctionRefused } from '../../core/sql/functions.ts';
import { foldName, makeUnique } from '../../core/sql/identifiers.ts';
import { locate } from '../../core/sql/position.ts';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
});
afterAll(() => {
  connection?.closeSync();
  instance?.closeSync();
});

const column = async (sql: string, params?: string[]) =>
  (await connection.runAndReadAll(sql, params)).getRows().map(([value]) => String(value));
const serialize = async (sql: string) =>
  (await column('SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR)) AS VARCHAR)', [sql]))[0] as string;
const known: KnownTable[] = [
  { name: 't', columns: ['a', 'b', 'user'] },
  { name: '売上', columns: ['金額'] },
  { name: 'Té' },
  { name: 'a.b/c.csv', columns: ['x'] },
];
const judge = async (sql: string, tables = known) => analyze(sql, await serialize(sql), tables);

describe('checkTree: what passes', () => {
  it.each([
    ['SELECT 1', []],
    ['SELECT * FROM t', ['t']],
    ['SELECT * FROM T AS x, 売上', ['t', '売上']],
    ['SELECT * FROM "a.b/c.csv"', ['a.b/c.csv']],
    ['SELECT * FROM TÉ', null],
    ['SELECT * FROM té', ['Té']],
    ['WITH x AS (SELECT * FROM t) SELECT * FROM x', ['t']],
    ['WITH x AS (SELECT 1), y AS (SELECT * FROM x) SELECT * FROM X, Y', []],
    ['WITH RECURSIVE x AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM x WHERE i < 3) SELECT * FROM x', []],
    ['SELECT * FROM t WHERE EXISTS (SELECT 1 FROM 売上) AND a IN (SELECT 金額 FROM 売上)', ['t', '売上']],
    ['SELECT (SELECT max(金額) FROM 売上)', ['売上']],
    ['SELECT sum(a) FILTER (b > 1) OVER (PARTITION BY b ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t', ['t']],
    ["SELECT count(DISTINCT a), string_agg(b, ',' ORDER BY a) FROM t GROUP BY ALL HAVING count(*) > 1", ['t']],
    ['SELECT DISTINCT ON (a) a FROM t ORDER BY a DESC NULLS LAST LIMIT 10% OFFSET 1', ['t']],
    [
      'SELECT CASE a WHEN 1 THEN 2 END, a BETWEEN 1 AND 2, a IS NULL, NOT b, a COLLATE nocase, TRY(a / 0), #1, grouping(a) FROM t GROUP BY CUBE (a)',
      ['t'],
    ],
    [
      "SELECT CAST(a AS DECIMAL(9,2)), a::STRUCT(x INTEGER[], y MAP(VARCHAR, JSON)), a::ENUM('x'), TRY_CAST(a AS UUID), INTERVAL 3 DAY FROM t",
      ['t'],
    ],
    ["SELECT * EXCLUDE (a) REPLACE (b AS b) RENAME (user AS c), t.*, COLUMNS(c -> c LIKE 'a%'), COLUMNS('x'), *COLUMNS(*) FROM t", ['t']],
    ['SELECT a FROM t UNION BY NAME SELECT a FROM t INTERSECT ALL SELECT 1', ['t']],
    ['SELECT * FROM t JOIN 売上 ON true LEFT JOIN t AS u USING (a) ASOF JOIN t AS v ON t.a >= v.a POSITIONAL JOIN t AS w', ['t', '売上']],
    ['SELECT * FROM t, LATERAL (SELECT t.a) l(x), range(3), generate_series(1, 2), unnest([1]) WITH ORDINALITY', ['t']],
    ['PIVOT t ON a IN (1, 2) USING sum(b) GROUP BY user', ['t']],
    ['SELECT * FROM t UNPIVOT (v FOR n IN (a, b))', ['t']],
    ['FROM t', ['t']],
    ['TABLE t', ['t']],
    ['VALUES (1), (2)', []],
    ['SELECT user FROM t', ['t']],
    ['SELECT 1 AS user, user', []],
    ["SELECT list_reduce([1], lambda x, y: x + y), [x FOR x IN [1]], {'k': [1]}, MAP {1: 2}, a[1:2], a->>'$.x' FROM t", ['t']],
    ['SELECT a FROM t USING SAMPLE 10%', ['t']],
  ] as [string, string[] | null][])('%s', async (sql, tables) => {
    const analysis = await judge(sql);
    // DuckDB folds the case of ASCII letters only.
    if (tables === null) expect(analysis.outcome).toBe('refused');
    else expect(analysis).toMatchObject({ outcome: 'ok', tables });
  });

  it('tells parameters, columns, and whether all columns are meant', async () => {
    expect(await judge('SELECT a, t.b, $x FROM t WHERE a = $y')).toMatchObject({
      parameters: ['x', 'y'],
      columns: ['a', 't', 'b'],
      allColumns: false,
    });
    expect(await judge('SELECT ?, ?')).toMatchObject({ parameters: ['1', '2'] });
    for (const sql of [
      'SELECT * FROM t',
      'SELECT x FROM t AS x',
      'SELECT t.a FROM t NATURAL JOIN 売上',
      "SELECT COLUMNS('a') FROM t",
      'PIVOT t ON a IN (1) USING sum(b)',
      'SELECT (t).a FROM t',
      'SELECT count(t) FROM t',
      'SELECT y FROM t AS u(x, y)',
      'SELECT #2 FROM t',
    ]) {
      expect([sql, await judge(sql)]).toMatchObject([sql, { allColumns: true }]);
    }
    expect(await judge('SELECT a.upper() FROM t WHERE t.b.lower().length() > 1')).toMatchObject({
      columns: ['a', 't', 'b'],
      allColumns: false,
    });
    expect(await judge('SELECT 1 FROM t JOIN 売上 USING (a)')).toMatchObject({ columns: ['a'], allColumns: false });
  });
});

describe('checkTree: what is refused', () => {
  it.each([
    ['SELECT * FROM nope', 'There is no table "nope"'],
    ['SELECT * FROM "/etc/passwd"', 'files cannot be read'],
    ["SELECT * FROM 'x.parquet'", 'files cannot be read'],
    ['SELECT * FROM main.t', 'without schema or catalog'],
    ['SELECT * FROM memory.main.t', 'without schema or catalog'],
    ['SELECT * FROM information_schema.tables', 'without schema or catalog'],
    ['SELECT * FROM duckdb_settings', 'the catalog cannot be read'],
    ['SELECT * FROM sqlite_master', 'the catalog cannot be read'],
    ['SELECT * FROM t AT (VERSION => 3)', 'AT (…)'],
    ["SELECT * FROM read_csv('x')", 'The table function "read_csv" is not allowed'],
    ['SELECT * FROM duckdb_settings()', 'The table function "duckdb_settings" is not allowed'],
    ['SELECT * FROM repeat_row(1, num_rows = 3)', 'The table function "repeat_row" is not allowed'],
    ["SELECT * FROM query('SELECT 1')", 'The table function "query" is not allowed'],
    ['DESCRIBE t', 'DESCRIBE, SHOW and SUMMARIZE'],
    ['SUMMARIZE t', 'DESCRIBE, SHOW and SUMMARIZE'],
    ['SELECT * FROM (DESCRIBE t)', 'DESCRIBE, SHOW and SUMMARIZE'],
    ['SHOW TABLES', 'DESCRIBE, SHOW and SUMMARIZE'],
    ["SELECT current_setting('x')", 'shows settings'],
    ["SELECT getenv('PATH')", 'The function "getenv" does not exist or is not allowed'],
    ["SELECT system.main.current_setting('x')", 'shows settings'],
    ['SELECT current_user', 'It shows settings or the session'],
    ['SELECT user FROM 売上', 'It shows settings or the session'],
    ["SELECT nextval('s')", 'changes state'],
    ['SELECT pg_sleep(1)', 'only waits'],
    ['SELECT pg_get_viewdef(1)', "PostgreSQL's catalog"],
    ['SELECT sum(1) EXPORT_STATE', 'not supported'],
    ['SELECT stats(a) FROM t', 'works inside'],
    ['SELECT 1; SELECT 2', 'Only one statement'],
    ['', 'There is no SQL statement'],
    ['DELETE FROM t', 'Only a SELECT'],
    ['EXPLAIN SELECT 1', 'Only a SELECT'],
    ["PRAGMA table_info('t')", 'Only a SELECT'],
    ["COPY t TO 'x'", 'Only a SELECT'],
    ['PIVOT t ON a USING sum(b)', 'PIVOT needs its values'],
    ['SELECT * FROM t PIVOT (sum(b) FOR a IN some_enum)', 'PIVOT … IN needs a list'],
    ['VALUES (DEFAULT)', 'not supported'],
    ['SELECT uper(a) FROM t', 'Did you mean "upper"?'],
    ['SELECT * FROM 売り', 'There is no table "売り"'],
  ])('%s', async (sql, text) => {
    const analysis = await judge(sql);
    expect(analysis).toMatchObject({
      outcome: 'refused',
      errors: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining(text) })]),
    });
  });

  it.each([
    // A name in scope in one place is not in scope in another, where the engine would look into its own catalog.
    'SELECT * FROM (WITH duckdb_settings AS (SELECT 1) FROM duckdb_settings), duckdb_settings',
    'WITH duckdb_settings AS (SELECT * FROM duckdb_settings) SELECT * FROM duckdb_settings',
    'WITH a AS (SELECT * FROM duckdb_settings), duckdb_settings AS (SELECT 1) SELECT * FROM a',
    'SELECT (WITH duckdb_settings AS (SELECT 1) SELECT 1), x FROM duckdb_settings',
    'WITH RECURSIVE duckdb_settings AS (SELECT name FROM duckdb_settings UNION ALL SELECT name FROM duckdb_settings) FROM duckdb_settings',
    'SELECT 1 UNION ALL (WITH pg_class AS (SELECT 1) FROM pg_class) UNION ALL FROM pg_class',
    'WITH RECURSIVE r(x) USING KEY (x) AS (SELECT 1 UNION SELECT x FROM recurring.r) FROM r',
  ])('scope: %s', async (sql) => {
    expect(await judge(sql)).toMatchObject({ outcome: 'refused' });
  });

  it('says where', async () => {
    expect(await judge("SELECT 'あ',\n  getenv('x')\nFROM t, nope")).toMatchObject({
      errors: [
        { line: 2, column: 3 },
        { line: 3, column: 9 },
      ].map((place) => expect.objectContaining(place)),
    });
  });

  it('says what is not SQL', async () => {
    expect(await judge('SELECT\n FROM')).toMatchObject({
      outcome: 'failed',
      errors: [{ message: expect.stringContaining('syntax error') }],
    });
    expect(await judge(`SELECT ${'('.repeat(100_000)}`)).toMatchObject({ outcome: 'too-large' });
  });

  it('fails closed on trees nobody has seen', async () => {
    const tree = (change: (statement: never) => void) => {
      const statement = {
        node: {
          type: 'SELECT_NODE',
          modifiers: [],
          cte_map: { map: [] },
          select_list: [{ class: 'CONSTANT', type: 'VALUE_CONSTANT', alias: '', query_location: 7, value: {} }],
          from_table: { type: 'EMPTY', alias: '', sample: null, query_location: 0 },
        },
        named_param_map: [],
      };
      change(statement as never);
      return checkTree([statement], known).refusals.length;
    };
    expect(tree(() => {})).toBe(0);
    expect(
      tree((s: { node: { type: string } }) => {
        s.node.type = 'CTE_NODE';
      }),
    ).toBe(1);
    expect(
      tree((s: { node: { new_clause?: string } }) => {
        s.node.new_clause = 'x';
      }),
    ).toBe(1);
    expect(
      tree((s: { node: { select_list: { class: string }[] } }) => {
        (s.node.select_list[0] as { class: string }).class = 'constructor';
      }),
    ).toBe(1);
    expect(
      tree((s: { node: { select_list: unknown[] } }) => {
        s.node.select_list = ['text'];
      }),
    ).toBe(1);
    expect(
      tree((s: { node: { select_list: unknown } }) => {
        s.node.select_list = { class: 'STAR' };
      }),
    ).toBe(1);
    expect(
      tree((s: { node: { select_list: { alias: unknown }[] } }) => {
        (s.node.select_list[0] as { alias: unknown }).alias = { class: 'SUBQUERY' };
      }),
    ).toBe(1);
    expect(
      tree((s: { node: { from_table: { type: string } } }) => {
        s.node.from_table.type = 'COLUMN_DATA';
      }),
    ).toBe(1);
    expect(
      tree((s: { node: { modifiers: unknown[] } }) => {
        s.node.modifiers = [{ type: 'SOME_MODIFIER' }];
      }),
    ).toBe(1);
  });
});

describe('allowedFunctions', () => {
  it('name every function of this DuckDB, each as allowed or as refused', async () => {
    const names = await column(
      "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'macro') ORDER BY 1",
    );
    expect(names.filter((name) => !allowedFunctions.has(name) && whyFunctionRefused(name) === null)).toEqual([]);
    expect([...allowedFunctions].filter((name) => !names.includes(name))).toEqual(['unnest']);
    expect([...allowedFunctions].filter((name) => whyFunctionRefused(name) !== null && !/^pg_(typeof|size_pretty)$/.test(name))).toEqual(
      [],
    );
  });

  it('allow no macro that reads a table or calls what is refused', async () => {
    const rows = (
      await connection.runAndReadAll("SELECT lower(function_name), macro_definition FROM duckdb_functions() WHERE function_type = 'macro'")
    ).getRows();
    for (const [name, definition] of rows.filter(([each]) => allowedFunctions.has(String(each)))) {
      const body = String(definition).replace(/"([^"]*)"/g, '$1');
      const called = [...body.matchAll(/\b([a-z_]\w*)\(/g)]
        .map(([, each]) => each as string)
        .filter((each) => !['cast', 'when', 'then', 'coalesce', 'bit', 'and', 'or', 'else', 'in'].includes(each));
      expect([name, called.filter((each) => !allowedFunctions.has(each)), /\b(FROM|getvariable)\b/.test(body)]).toEqual([name, [], false]);
    }
  });

  it('leave three table functions', () => {
    expect([...allowedTableFunctions]).toEqual(['range', 'generate_series', 'unnest']);
  });
});

describe('checkText', () => {
  it.each([
    ['', /empty/],
    ['SELECT \0', /U\+0000/],
    ['SELECT \ud800', /surrogate/],
    [`SELECT '${'a'.repeat(1_048_576)}'`, /longer/],
    [`SELECT '${'あ'.repeat(400_000)}'`, /longer/],
  ])('is refused: %#', (sql, text) => expect(checkText(sql)).toMatch(text));

  it('folds names as DuckDB does', () => {
    expect([foldName('ABCé'), foldName('ÀB'), foldName('売上')]).toEqual(['abcé', 'Àb', '売上']);
  });

  it('makes names unique', () => {
    expect(makeUnique(['a', 'a', 'A', 'b', 'a_2', ''])).toEqual(['a', 'a_3', 'A_4', 'b', 'a_2', '']);
  });

  it('finds places', () => {
    expect(locate('SELECT x', 7)).toEqual({ line: 1, column: 8 });
    expect(locate('SELECT\n あ, x', 13)).toEqual({ line: 2, column: 5 });
    expect(locate("SELECT　'　', x", 16)).toEqual({ line: 1, column: 14 });
    expect(locate('SELECT', 18446744073709552000)).toBeNull();
    expect(locate('SELECT 😀x', 11)).toEqual({ line: 1, column: 9 });
  });
});
