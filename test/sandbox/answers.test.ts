import { describe, expect, it } from 'vitest';
import { refusal, useSandbox } from './world.ts';

/** What callers are told of queries that do not run, and of those that would. */

const { world, sandbox } = await useSandbox();

describe('runQuery: errors', () => {
  it.each([
    ['an unknown column', 'SELECT 1,\n  金学 FROM 売上', 'query-failed', /金学.*\(line 2, column 3\)/s],
    ['an unknown table', 'SELECT * FROM 売り上げ', 'query-refused', /no table "売り上げ"/],
    ['a near table', 'SELECT * FROM edted', 'query-refused', /Did you mean "Edited"\?.*line 1, column 15/],
    ['a near function', 'SELECT uper(月) FROM 売上', 'query-refused', /Did you mean "upper"\?/],
    ['a syntax error', 'SELECT FROM WHERE', 'query-failed', /syntax error.*line 1/],
    ['a place after wide blanks', "SELECT '　',　　nope", 'query-failed', /line 1, column 14/],
    ['a cast', "SELECT CAST('x' AS INTEGER)", 'query-failed', /Could not convert string 'x'/],
    ["an error of the query's own", "SELECT error('no way')", 'query-failed', /no way/],
    ['PIVOT without values', 'PIVOT 売上 ON 月 USING sum(金額)', 'query-refused', /PIVOT needs its values/],
    ['two statements', 'SELECT 1; SELECT 2', 'query-refused', /Only one statement/],
    ['nothing', ' ', 'validation-failed', /empty/],
    ['only a comment', '-- hello', 'query-refused', /no SQL statement/],
    ['a missing parameter', 'SELECT $1, $2', 'validation-failed', /\$2/, [1]],
    ['a parameter too many', 'SELECT $1', 'validation-failed', /\$2/, [1, 2]],
    ['an object as parameter', 'SELECT $1', 'validation-failed', /parameter is/, [{ a: 1 }]],
    ['U+0000 in a parameter', 'SELECT $1', 'validation-failed', /U\+0000/, ['a\0b']],
  ] as [string, string, string, RegExp, unknown[]?][])('%s', async (_, sql, code, text, params) => {
    const error = await refusal(world.run(sandbox, sql, { params }));
    expect([error.code, error.detail]).toEqual([code, expect.stringMatching(text)]);
  });
});

describe('runQuery: a query that fails after its first rows', () => {
  it.each([
    [
      'a cast',
      "SELECT CAST(CASE WHEN i < 90000 THEN '1' ELSE 'x' END AS INTEGER) AS v FROM range(100000) r(i)",
      'query-failed',
      /Could not convert string 'x'/,
    ],
    [
      'an error of its own',
      "SELECT CASE WHEN i = 70000 THEN error('late') ELSE i END AS v FROM range(100000) r(i)",
      'query-failed',
      /late/,
    ],
    [
      'one that does not come again',
      "SELECT CASE WHEN i > 5000 AND random() < 0.0005 THEN error('by chance') ELSE i END AS v FROM range(20000) r(i)",
      'query-failed',
      /by chance|first rows/,
    ],
    [
      'memory',
      // Of letters that differ: one text for all rows would be made before the first, and copied for minutes.
      "SELECT i, CASE WHEN i > 50000 THEN repeat(chr(CAST(97 + i % 3 AS INTEGER)), 900000000) ELSE '' END AS v FROM range(100000) r(i)",
      'query-too-large',
      /memory/,
    ],
    [
      'time',
      'SELECT i, (SELECT count(*) FROM range(CASE WHEN i < 20000 THEN 1 ELSE 100000000000 END)) AS v FROM range(100000) r(i)',
      'query-timeout',
      /too long/,
    ],
  ] as [string, string, string, RegExp][])(
    'fails as a whole: %s',
    async (_, sql, code, text) => {
      for (const keepResult of [true, false]) {
        const error = await refusal(
          world.run(sandbox, sql, { keepResult, pageLimit: 1_000_000, timeoutMs: code === 'query-timeout' ? 2_000 : 150_000 }),
        );
        expect([error.code, error.detail]).toEqual([code, expect.stringMatching(text)]);
      }
    },
    320_000,
  );

  it('but not when the page is full before', async () => {
    const result = await world.run(sandbox, "SELECT CASE WHEN i = 90000000 THEN error('late') ELSE i END AS v FROM range(100000000) r(i)", {
      pageLimit: 2,
    });
    expect(result).toMatchObject({ pageJson: Buffer.from('[{"v":0},\n{"v":1}]'), more: true });
  });
});

describe('validateQuery', () => {
  const validate = (sql: string, params?: unknown[]) =>
    sandbox.validate({ userId: 'usr_1', sql, params, relations: world.relations, timeoutMs: 60_000 });

  it('gives columns without running anything', async () => {
    expect(await validate("SELECT 月, sum(金額) AS s, repeat('a', 1000000000) AS r FROM 売上 GROUP BY ALL")).toEqual({
      valid: true,
      errors: [],
      columns: [
        { name: '月', type: 'VARCHAR' },
        { name: 's', type: 'HUGEINT' },
        { name: 'r', type: 'VARCHAR' },
      ],
    });
  });

  it('gives errors with their place', async () => {
    expect(await validate('SELECT 月\nFROM 売上\nWHERE nope = 1')).toEqual({
      valid: false,
      columns: [],
      errors: [{ message: expect.stringContaining('nope'), line: 3, column: 7 }],
    });
    expect(await validate("SELECT * FROM 'a.csv', getenv('x')")).toMatchObject({
      valid: false,
      errors: [
        { line: 1, column: 15 },
        { line: 1, column: 24 },
      ],
    });
  });

  it('takes the types of parameters into account', async () => {
    expect(await validate('SELECT $1 AS a, $1::BIGINT AS b, 金額 FROM 売上 WHERE 月 = $2', [1.5, 'x'])).toMatchObject({
      valid: true,
      columns: [
        { name: 'a', type: 'DOUBLE' },
        { name: 'b', type: 'BIGINT' },
        { name: '金額', type: 'BIGINT' },
      ],
    });
    expect(await validate('SELECT $1 AS a, $1::BIGINT AS b')).toMatchObject({
      valid: true,
      columns: [{ name: 'a' }, { name: 'b', type: 'BIGINT' }],
    });
  });

  it('tells of parameters that would be refused', async () => {
    expect(await validate('SELECT $1 AS a', [])).toEqual({
      valid: false,
      errors: [{ message: 'The query uses $1, which is not given.', line: null, column: null }],
      columns: [],
    });
    expect((await validate('SELECT $1 AS a', [1, 2])).errors.map(({ message }) => message)).toEqual([
      '$2 is given, but the query does not use it.',
    ]);
  });
});
