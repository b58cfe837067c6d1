import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { readCacheCounts } from '../../store/cacheCounts.ts';
import type { Relation } from '../../store/duckdb/relation.ts';
import type { Sandbox, SandboxQuery } from '../../store/duckdb/sandbox/sandbox.ts';
import { keySession, WarmSessions } from '../../store/duckdb/sandbox/warmSessions.ts';
import { makeWorld, refusal, secrets, useSandbox, type World } from './world.ts';

const { world, sandbox } = await useSandbox();

const open = () => world.relations.filter(({ governed }) => !governed);
const named = (...names: string[]) => world.relations.filter(({ name }) => names.includes(name));

/** Runs in a session that stays, over tables of an account. */
const ask = (sql: string, more: Partial<SandboxQuery> = {}) =>
  world.run(sandbox, sql, {
    accountId: 'acc_1',
    relations: open(),
    keepResult: true,
    inlineBytes: { rows: 65_536, file: 65_536 },
    ...more,
  });

const rowsOf = async (sql: string, more: Partial<SandboxQuery> = {}) => JSON.parse(String((await ask(sql, more)).pageJson)) as unknown[];

/** How often a session was there already, since the last call. */
let seen = 0;
function countHits(): number {
  const hits = readCacheCounts().find(({ cache }) => cache === 'query_sessions')?.hit ?? 0;
  const since = hits - seen;
  seen = hits;
  return since;
}
beforeEach(() => {
  countHits();
});

/** One process, so that the next query meets the session of the one before. */
async function withOneProcess(work: (sandbox: Sandbox, world: World) => Promise<void>): Promise<void> {
  const own = await makeWorld();
  const one = await own.open({ processes: 2 });
  try {
    await work(one, own);
  } finally {
    await one.close();
    await own.close();
  }
}

describe('a session that stays', () => {
  it('serves the next query over the same tables, with the same answers', async () => {
    for (let i = 0; i < 6; i += 1) expect(await rowsOf(`SELECT 金額 + ${i} AS n FROM 売上 WHERE 店 = '大阪'`)).toEqual([{ n: 200 + i }]);
    expect(await rowsOf('SELECT k, v FROM Edited ORDER BY k')).toEqual([
      { k: 'a', v: 1 },
      { k: 'b', v: 20 },
      { k: 'c', v: 3 },
      { k: 'd', v: 4 },
    ]);
    expect(countHits()).toBeGreaterThan(4);
  });

  it('is not used where a column is hidden, nor where random values are asked for', async () => {
    const all = { relations: world.relations };
    for (let i = 0; i < 3; i += 1) expect(await rowsOf('SELECT 名前 FROM 給与 ORDER BY 名前 LIMIT 1', all)).toEqual([{ 名前: '佐藤' }]);
    for (let i = 0; i < 3; i += 1) await rowsOf('SELECT random() AS r FROM 売上');
    for (let i = 0; i < 3; i += 1) await rowsOf('SELECT 金額 FROM 売上 USING SAMPLE 2 ROWS');
    for (let i = 0; i < 3; i += 1) await rowsOf("SELECT list_aggregate([1, 2, 3], 'reservoir_quantile', 0.5) AS r FROM 売上");
    expect(countHits()).toBe(0);
  });

  it('ends after an error that is not the query’s own, and stays after one that is', async () => {
    await withOneProcess(async (one, own) => {
      const relations = own.relations.filter(({ governed }) => !governed);
      const run = (sql: string, more: Partial<SandboxQuery> = {}) =>
        own.run(one, sql, { accountId: 'acc_1', relations, keepResult: true, ...more });
      await run('SELECT 金額 FROM 売上');
      await run('SELECT 金額 FROM 売上');
      countHits();
      await refusal(run('SELECT CAST(店 AS BIGINT) FROM 売上'));
      expect(JSON.parse(String((await run('SELECT count(*) AS n FROM 売上')).pageJson))).toEqual([{ n: 3 }]);
      expect(countHits()).toBeGreaterThan(0);
      const slow = 'SELECT count(*) FROM range(100000) a, range(100000) b, 売上 WHERE a.range * b.range % 7 = 金額';
      expect((await refusal(run(slow, { timeoutMs: 300 }))).code).toBe('query-timeout');
      expect(JSON.parse(String((await run('SELECT count(*) AS n FROM 売上')).pageJson))).toEqual([{ n: 3 }]);
    });
  });

  it('gives way to others when there are too many', async () => {
    const tables = Array.from({ length: 12 }, (_, i): Relation => ({ ...(named('売上')[0] as Relation), versionUid: `ver_${i}` }));
    for (const table of tables) expect(await rowsOf('SELECT count(*) AS n FROM 売上', { relations: [table] })).toEqual([{ n: 3 }]);
    for (const table of tables) expect(await rowsOf('SELECT count(*) AS n FROM 売上', { relations: [table] })).toEqual([{ n: 3 }]);
  });
});

/** What the first could leave for the second, which must answer as it does alone. */
const pairs: [what: string, first: string, second: string][] = [
  ['a table', 'CREATE TEMP TABLE left AS SELECT 1 AS x', 'SELECT * FROM "left"'],
  ['a view', 'CREATE VIEW left AS SELECT 1 AS x', 'SELECT * FROM "left"'],
  ['a macro', "CREATE MACRO upper(x) AS 'changed'", "SELECT upper('a') AS u FROM 店舗 LIMIT 1"],
  ['a type', "CREATE TYPE bigint AS ENUM ('x')", 'SELECT CAST(1 AS BIGINT) AS n FROM 店舗 LIMIT 1'],
  ['a sequence', 'CREATE SEQUENCE s', "SELECT nextval('s') FROM 店舗"],
  ['another schema', 'USE information_schema', 'SELECT count(*) AS n FROM 店舗'],
  ['a prepared statement', 'PREPARE left AS SELECT 1', 'EXECUTE left'],
  ['a variable', 'SET VARIABLE left = 7', "SELECT getvariable('left') FROM 店舗"],
  ['a setting', "SET default_order = 'DESC'", 'SELECT 店 FROM 店舗 ORDER BY 店'],
  ['a time zone', "SET TimeZone = 'Asia/Tokyo'", "SELECT CAST(TIMESTAMPTZ '2024-01-01 00:00:00+00' AS VARCHAR) AS t FROM 店舗 LIMIT 1"],
  ['a seed', 'SELECT setseed(0.5) FROM 店舗', 'SELECT count(*) AS n FROM 店舗'],
  ['a transaction', 'BEGIN', 'SELECT count(*) AS n FROM 店舗'],
  ['a failed transaction', "SELECT CAST('x' || 店 AS BIGINT) FROM 店舗", 'SELECT count(*) AS n FROM 店舗'],
  [
    'a failure after the first rows',
    "SELECT CASE WHEN range = 9000 THEN CAST('x' AS BIGINT) END AS n FROM range(10000), 店舗",
    'SELECT count(*) AS n FROM 店舗',
  ],
  ['the result of a large query', "SELECT repeat('x', 100) AS x FROM range(20000), 店舗", 'SELECT * FROM svc_result'],
  ['the columns of that result', "SELECT repeat('x', 100) AS x FROM range(20000), 店舗", 'SELECT v0 FROM 店舗'],
  ['parameters', 'SELECT 店 FROM 店舗 WHERE 県 = $1', 'SELECT $1 AS x FROM 店舗'],
  ['a CTE', 'WITH 売上 AS (SELECT 9 AS 金額) SELECT * FROM 売上', 'SELECT sum(金額) AS n FROM 売上'],
  ['an alias', 'SELECT 店 AS 県 FROM 店舗 AS 売上', 'SELECT sum(金額) AS n FROM 売上'],
  ['a name that was looked for', `SELECT * FROM "${secrets.foreign}"`, 'SELECT nothing FROM 店舗'],
  ['a value in an error', `SELECT CAST('${secrets.foreign}' AS BIGINT) FROM 店舗`, "SELECT CAST('y' AS BIGINT) FROM 店舗"],
  ['an attached database', "ATTACH ':memory:' AS left", 'SELECT * FROM "left".main.x'],
  ['a dropped table', 'DROP VIEW 店舗', 'SELECT count(*) AS n FROM 店舗'],
  ['a changed table', "INSERT INTO 店舗 VALUES ('x', 'y')", 'SELECT count(*) AS n FROM 店舗'],
  ['rows in another order', 'SELECT 店 FROM 店舗 ORDER BY 店 DESC', 'SELECT 店 FROM 店舗'],
];

describe('hostile pairs of queries in one session', () => {
  const params = (sql: string) => (sql.includes('$1') && sql.startsWith('SELECT 店') ? { params: ['東京都'] } : {});
  /** The answer or the refusal, without what is measured. */
  const told = async (sql: string, more: Partial<SandboxQuery>) =>
    ask(sql, { ...params(sql), ...more }).then(
      ({ pageJson, columns, rowCount }) => ({ pageJson: String(pageJson), columns, rowCount }),
      (error: { code?: string; message: string }) => ({ code: error.code, message: error.message }),
    );

  it.each(pairs)('%s is not there for the next', async (_what, first, second) => {
    const relations = named('売上', '店舗').map((relation): Relation => ({ ...relation, versionUid: `${relation.versionUid} ${first}` }));
    const alone = await told(second, { relations, accountId: undefined as never });
    // Twice on each of two processes, so that one of them has met the first.
    const after = [];
    for (let i = 0; i < 4; i += 1) {
      await told(first, { relations });
      after.push(await told(second, { relations }));
    }
    expect(after).toEqual(Array(4).fill(alone));
    expect(JSON.stringify(alone)).not.toContain(secrets.foreign);
  });
});

describe('keySession', () => {
  const table = named('売上')[0] as Relation;
  const column = fc.record({ name: fc.constantFrom('a', 'b', 'c'), type: fc.constantFrom('BIGINT', 'VARCHAR'), masked: fc.boolean() });
  const relation = fc.record({
    name: fc.constantFrom('t', 'u'),
    versionUid: fc.constantFrom('ver_1', 'ver_2'),
    columns: fc.uniqueArray(column, { selector: ({ name }) => name, minLength: 1 }),
  });
  const view = fc.record({ accountId: fc.constantFrom('acc_1', 'acc_2'), relations: fc.array(relation, { minLength: 1, maxLength: 2 }) });
  const keyOf = ({ accountId, relations }: { accountId: string; relations: Pick<Relation, 'name' | 'versionUid' | 'columns'>[] }) =>
    keySession(
      accountId,
      relations.map((each) => ({ ...table, ...each })),
    );

  it('is the same for the same account, versions and columns, and for nothing else', () => {
    fc.assert(fc.property(view, view, (a, b) => (keyOf(a) === keyOf(b)) === (JSON.stringify(a) === JSON.stringify(b))));
  });

  it('is none where hidden columns are still to be taken out', () => {
    expect(keySession('acc_1', world.relations)).toBeNull();
  });
});

describe('WarmSessions', () => {
  it('lets go of the longest unused, and of the old', () => {
    const sessions = new WarmSessions();
    for (let i = 0; i < 10; i += 1) sessions.add(`k${i}`, `s${i}`, i);
    sessions.find('k0', 20);
    expect(sessions.takeOld(20)).toEqual(['s1', 's2']);
    expect(sessions.takeOld(60_015)).toEqual(['s3', 's4', 's5', 's6', 's7', 's8', 's9']);
    expect(sessions.find('k0', 60_016)).toBe('s0');
    for (let now = 90_000; now <= 600_000; now += 30_000) sessions.find('k0', now);
    expect(sessions.takeOld(600_010)).toEqual(['s0']);
    expect(sessions.size).toBe(0);
  });
});
