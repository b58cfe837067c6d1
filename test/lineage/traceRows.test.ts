import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { traceRows } from '../../core/lineage/traceRows.ts';

/** The rows that a query is said to have made a row from, against the truth: the query is run again over these rows alone. */

const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const inputs = ['t', 'u'];
const lists = ['rows_1', 'rows_2'];

async function readText(sql: string, param: string): Promise<string> {
  return String((await connection.runAndReadAll(sql, [param])).getRows()[0]?.[0]);
}

/** The query with the rows behind each of its rows. Null: they cannot be traced. */
async function trace(sql: string): Promise<string | null> {
  const tree = await readText('SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR)) AS VARCHAR)', sql);
  const traced = traceRows(tree, inputs, 'rows_');
  return traced && readText('SELECT json_deserialize_sql(CAST($1 AS JSON))', traced);
}

type Cell = number | null;
type Rows = { t: Cell[][]; u: Cell[][] };

/** Rows are numbered from 1. `only`: those that are there, by table. */
async function fill({ t, u }: Rows, only: (number[] | null)[] = [null, null]): Promise<void> {
  for (const [i, [name, columns, rows]] of [['t', 'a, b, c', t] as const, ['u', 'a, e', u] as const].entries()) {
    await connection.run(`CREATE OR REPLACE TABLE ${name} (${columns.replaceAll(',', ' BIGINT,')} BIGINT, __svc_row_id BIGINT)`);
    const values = rows.map((row, n) => `(${[...row.map((cell) => cell ?? 'NULL'), n + 1].join(', ')})`);
    const kept = values.filter((_, n) => !only[i] || only[i].includes(n + 1));
    if (kept.length > 0) await connection.run(`INSERT INTO ${name} VALUES ${kept.join(', ')}`);
  }
}

async function run(sql: string): Promise<Record<string, unknown>[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
}

const write = (row: Record<string, unknown>) => JSON.stringify(Object.entries(row).filter(([name]) => !lists.includes(name)));
const idsOf = (row: Record<string, unknown>) =>
  lists.map((list) => ((row[list] ?? []) as (string | null)[]).flatMap((id) => (id === null ? [] : [Number(id)])));

const cell = fc.option(fc.integer({ min: 0, max: 4 }), { nil: null, freq: 8 });
const someRows = fc.record({
  // The second column is different in each row.
  t: fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 }).map((rows) => rows.map(([a, c], n): Cell[] => [a, n * 10, c])),
  u: fc.array(fc.tuple(cell, cell), { maxLength: 5 }).map((rows) => rows.map(([a], n): Cell[] => [a, n * 100])),
});

describe('the rows that a row was made from', () => {
  /** `exact`: without any one of them the row would not be there. */
  it.each<[sql: string, exact: boolean]>([
    ['SELECT a, b FROM t WHERE b > 20', true],
    ['SELECT *, b + 1 AS n FROM t', true],
    ['SELECT b, e FROM t JOIN u USING (a)', true],
    ['SELECT x.b, u.e FROM t AS x LEFT JOIN u ON x.a = u.a', false],
    ['SELECT b, e FROM t FULL JOIN u ON t.a = u.a', false],
    ['SELECT p.b AS x, q.b AS y FROM t p, t q WHERE p.b < q.b', true],
    ['SELECT b FROM t ORDER BY b DESC LIMIT 2', true],
    ['SELECT a, b FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1', true],
    ['SELECT a, sum(b) AS s, count(*) AS n FROM t GROUP BY a', true],
    ['SELECT a, max(b) AS m FROM t GROUP BY ALL HAVING count(*) > 1', false],
    ['SELECT count(*) AS n, sum(b) AS s FROM t WHERE c > 1', true],
    ['SELECT a, count(*) AS n FROM t GROUP BY ROLLUP (a)', false],
    ['SELECT DISTINCT a, c FROM t ORDER BY a', false],
    ['SELECT a, b FROM t UNION ALL SELECT a, e FROM u', false],
    ['SELECT b, i FROM t, generate_series(1, a) g(i)', true],
    ['SELECT b, unnest([1, 2]) AS x FROM t', true],
    ['WITH m AS (SELECT a, sum(b) AS s, count(*) AS n FROM t GROUP BY a) SELECT m.*, e FROM m JOIN u USING (a)', true],
    ['SELECT * FROM (SELECT a, b FROM t WHERE c > 1) WHERE b > 10', true],
    ['SELECT sum(n) AS z, sum(s) AS y FROM (SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a)', true],
    ['WITH x AS (SELECT b FROM t), y AS (SELECT * FROM x WHERE b > 10) SELECT y.b, u.e FROM y CROSS JOIN u', true],
  ])('are enough to make it: %s', async (sql, exact) => {
    const traced = await trace(sql);
    if (traced === null) throw new Error('it is not traced');
    await fc.assert(
      fc.asyncProperty(someRows, async (rows) => {
        await fill(rows);
        const made = await run(traced);
        expect(made.map(write).sort()).toEqual((await run(sql)).map(write).sort());
        for (const row of made.slice(0, 5)) {
          const only = idsOf(row);
          await fill(rows, only);
          expect((await run(sql)).map(write)).toContain(write(row));
          const [place, ids] = only[0]?.length ? [0, only[0]] : [1, only[1] ?? []];
          if (!exact || ids.length === 0) continue;
          await fill(
            rows,
            only.map((all, i) => (i === place ? all.slice(1) : all)),
          );
          expect((await run(sql)).map(write)).not.toContain(write(row));
        }
      }),
      { numRuns: 8 },
    );
  });

  it.each([
    'SELECT DISTINCT ON (a) a, b FROM t',
    'SELECT DISTINCT count(*) AS n FROM t GROUP BY a',
    'SELECT a FROM t UNION SELECT a FROM u',
    'SELECT a FROM t EXCEPT SELECT a FROM u',
    'SELECT b, sum(b) OVER () AS s FROM t',
    'SELECT b FROM t WHERE a IN (SELECT a FROM u)',
    'SELECT b, (SELECT max(e) FROM u) AS m FROM t',
    'SELECT b FROM t SEMI JOIN u USING (a)',
    'SELECT * FROM t NATURAL JOIN u',
    'SELECT x FROM t AS z(x)',
    'SELECT b FROM t USING SAMPLE 1',
    'WITH RECURSIVE r AS (SELECT b FROM t UNION ALL SELECT b + 1 FROM r WHERE b < 3) SELECT b FROM r',
    'SELECT b, 9007199254740993 AS big FROM t',
  ])('are not told where they are others as well, or cannot be: %s', async (sql) => {
    expect(await trace(sql)).toBeNull();
  });

  it('are told beside what the query says, whatever stands in it', async () => {
    await fill({ t: [[1, 2, 3]], u: [] });
    const traced = await trace(`SELECT b, '"query_location":12' AS x, '":12345678901234567' AS y, E'\\\\' AS z, 1.5 AS d FROM t`);
    expect(await run(traced ?? '')).toMatchObject([
      { x: '"query_location":12', y: '":12345678901234567', z: '\\', d: '1.5', rows_1: ['1'] },
    ]);
  });
});
