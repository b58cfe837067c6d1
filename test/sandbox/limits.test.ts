import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { refusal, useSandbox } from './world.ts';

/** Queries that want too much: each ends in time, the service lives on, and others get their turn. */

const { world, sandbox } = await useSandbox();

const bounded = ['query-timeout', 'query-too-large', 'query-failed'];

/** The niceness of every thread of the processes below this one. */
function listNiceness(pid: number): number[] {
  const below = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return below.flatMap((child) => [
    ...readdirSync(`/proc/${child}/task`).map((thread) => getPriority(Number(thread))),
    ...listNiceness(Number(child)),
  ]);
}

describe('runQuery: resource bombs', () => {
  it.each([
    ['a long text', "SELECT repeat('a', 1000000000)"],
    ['many long texts', "SELECT repeat('a', 100000000) || i FROM range(1000) r(i)"],
    ['a long list', 'SELECT range(2000000000)'],
    ['lists of lists', 'SELECT list_transform(range(100000), lambda x: range(100000))'],
    ['padding', "SELECT lpad('x', 2000000000, 'y')"],
    ['a cross join', 'SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c'],
    ['a recursion without end', 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r'],
    [
      'a recursion that doubles',
      'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + x FROM r, (VALUES (1), (2)) v(x)) SELECT count(*) FROM r',
    ],
    ['a huge sort', 'SELECT * FROM range(500000000) r(i) ORDER BY hash(i)'],
    ['a huge group', 'SELECT i, count(*) FROM range(500000000) r(i) GROUP BY i'],
    ['a huge aggregate', 'SELECT list(i) FROM range(500000000) r(i)'],
    ['a huge string_agg', "SELECT string_agg(repeat('x', 1000), ',') FROM range(10000000)"],
    ['a window over everything', 'SELECT max(s) FROM (SELECT sum(i) OVER (ORDER BY hash(i)) AS s FROM range(300000000) r(i))'],
    ['a slow pattern', "SELECT count(*) FROM range(100000000) r(i) WHERE regexp_matches(repeat('a', 1000) || i, '(a+)+b')"],
    ['a large factor', 'SELECT sum(factorial(i % 30)) FROM range(100000000000) r(i)'],
    [
      'a pivot of many values',
      `PIVOT (SELECT i FROM range(1000000) r(i)) ON i IN (${Array.from({ length: 5000 }, (_, i) => i).join(', ')}) USING list(i)`,
    ],
    ['a number padded by its format', "SELECT printf('%1000000000d', 1)"],
    ['a list made longer', 'SELECT list_resize([1], 2000000000)'],
    ['a long bit string', "SELECT bitstring('1', 2000000000)"],
    ['ranges as long as another says', 'SELECT count(*) FROM range(100000) a(i), LATERAL (SELECT * FROM range(a.i * 1000)) b'],
    ['texts compared letter by letter', "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))"],
    ['JSON that grows', "SELECT json_group_array(repeat('x', 100000)) FROM range(100000)"],
    ['a huge number of columns', `SELECT ${Array.from({ length: 50_000 }, (_, i) => `${i} AS c${i}`).join(', ')}`],
  ])('%s', async (_, sql) => {
    const began = Date.now();
    const error = await refusal(world.run(sandbox, sql, { timeoutMs: 700, keepResult: true }));
    expect(bounded).toContain(error.code);
    expect(Date.now() - began).toBeLessThan(30_000);
    expect(await world.rows(sandbox, 'SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });

  it.each([
    ['parentheses', `SELECT ${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
    ['brackets', `SELECT ${'['.repeat(100_000)}1${']'.repeat(100_000)}`],
    ['sums', `SELECT 1${'+1'.repeat(100_000)}`],
    ['NOT', `SELECT ${'NOT '.repeat(100_000)}true`],
    ['minus', `SELECT ${'- '.repeat(100_000)}1`],
    ['CASE', `SELECT ${'CASE WHEN true THEN '.repeat(20_000)}1${' END'.repeat(20_000)}`],
    ['subqueries', `SELECT * FROM ${'(SELECT * FROM '.repeat(20_000)}売上${')'.repeat(20_000)}`],
    ['joins', `SELECT * FROM 売上${' JOIN 売上 ON true'.repeat(20_000)}`],
    ['unions', `SELECT 1${' UNION ALL SELECT 1'.repeat(20_000)}`],
    ['AND', `SELECT ${'true AND '.repeat(100_000)}true`],
    ['a list', `SELECT ${'1,'.repeat(400_000)}1`],
    ['casts', `SELECT 1${'::INTEGER'.repeat(90_000)}`],
    [
      'CTEs',
      `WITH ${Array.from({ length: 5_000 }, (_, i) => `c${i} AS (SELECT * FROM ${i === 0 ? '売上' : `c${i - 1}`})`).join(', ')} SELECT * FROM c4999`,
    ],
    [
      'CTEs that double',
      `WITH c0 AS (SELECT 1 AS x), ${Array.from({ length: 40 }, (_, i) => `c${i + 1} AS (SELECT a.x FROM c${i} a, c${i} b)`).join(', ')} SELECT count(*) FROM c40`,
    ],
  ])('SQL that is deep or long: %s', async (_, sql) => {
    const outcome = await world.run(sandbox, sql, { timeoutMs: 1_500 }).then(
      () => 'answered',
      async (error: unknown) => (await refusal(Promise.reject(error))).code,
    );
    expect(['answered', 'query-refused', ...bounded]).toContain(outcome);
    expect(await world.rows(sandbox, 'SELECT 1 AS x')).toEqual([{ x: 1 }]);
  });

  it('refuses SQL over a megabyte without a process', async () => {
    expect((await refusal(world.run(sandbox, `SELECT '${'a'.repeat(1_100_000)}'`))).code).toBe('validation-failed');
  });
});

describe('runQuery: limits of results', () => {
  it('rows', async () => {
    const error = await refusal(world.run(sandbox, 'SELECT * FROM range(1000)', { keepResult: true, maxRows: 999 }));
    expect([error.code, error.detail]).toEqual(['query-too-large', 'The result has more than 999 rows.']);
  });

  it('bytes', async () => {
    const error = await refusal(
      world.run(sandbox, 'SELECT i, md5(i::VARCHAR) AS m FROM range(100000) r(i)', { keepResult: true, maxBytes: 1_000_000 }),
    );
    expect([error.code, error.detail]).toEqual(['query-too-large', 'The result is larger than 1000000 bytes.']);
  });

  const deepJson = (levels: number) => `CAST(repeat('[', ${levels}) || repeat(']', ${levels}) AS JSON)`;
  it.each([
    ['JSON', `SELECT ${deepJson(101)} AS j`],
    ['JSON in a list', `SELECT [${deepJson(100)}] AS j`],
    ['objects', `SELECT CAST(repeat('{"a":', 101) || '1' || repeat('}', 101) AS JSON) AS j`],
    ['JSON behind the page', `SELECT CASE WHEN i = 5000 THEN ${deepJson(101)} ELSE '1' END AS j FROM range(6000) r(i)`],
    ['lists by their type', `SELECT ${'['.repeat(150)}1${']'.repeat(150)} AS l`],
  ])('depth: %s', async (_, sql) => {
    const error = await refusal(world.run(sandbox, sql, { keepResult: true, pageLimit: 10 }));
    expect([error.code, error.detail]).toEqual(['query-failed', expect.stringContaining('nested more than 100 levels deep')]);
  });

  it('depth: what is deep enough passes, and so do many brackets', async () => {
    const flat = `CAST('[' || repeat('[],', 500) || '"[[[[{{\\"["]' AS JSON)`;
    expect(await world.rows(sandbox, `SELECT json_array_length(j) AS n FROM (SELECT ${flat} AS j)`)).toEqual([{ n: 501 }]);
    expect((await world.rows(sandbox, `SELECT ${flat} AS flat, ${deepJson(100)} AS deep`)).length).toBe(1);
  });

  it('the page', async () => {
    const error = await refusal(world.run(sandbox, "SELECT repeat('x', 1000000) AS x FROM range(40)"));
    expect([error.code, error.detail]).toEqual(['query-too-large', expect.stringMatching(/^The page is larger/)]);
  });

  it('a timeout says so', async () => {
    const error = await refusal(world.run(sandbox, 'SELECT count(*) FROM range(10000000) a, range(10000000) b', { timeoutMs: 300 }));
    expect([error.code, error.detail]).toEqual(['query-timeout', 'The query took too long.']);
  });

  it('leaves nothing on the disk', async () => {
    const [run] = await readdir(join(world.dir, 'sandbox'));
    // But for the folders of processes, and the program that they are started from.
    const listLeft = async () =>
      (await readdir(join(world.dir, 'sandbox', run as string))).filter((name) => !/^child-|^child\.mjs$/.test(name));
    await expect.poll(listLeft).toEqual([]);
  });
});

describe('the pool of query processes', () => {
  it('gives one user all of it but one process, and others their turn', async () => {
    const small = await world.open({ processes: 3 });
    const enough = new AbortController();
    const endless = { userId: 'greedy', timeoutMs: 120_000, signal: enough.signal };
    const slow = () => world.run(small, 'SELECT count(*) FROM range(100000000000)', endless).catch(() => {});
    const work = [slow(), slow(), slow(), slow()];
    await expect.poll(() => small.state).toMatchObject({ alive: 4, busy: 2, queued: 2 });
    // It came last and did not wait for those before it.
    expect(await world.rows(small, 'SELECT 1 AS x', { userId: 'patient' })).toEqual([{ x: 1 }]);
    expect(small.state).toMatchObject({ busy: 2, queued: 2 });
    enough.abort();
    await Promise.all(work);
    await small.close();
  });

  it('runs queries of one user only up to their share of the queue', async () => {
    const small = await world.open({ processes: 1, maxQueueOfOne: 1 });
    const outcomes = ['greedy', 'greedy', 'greedy', 'patient'].map((userId) =>
      world.rows(small, 'SELECT count(*) > 0 AS x FROM range(300000000)', { userId }).catch((error: { code: string }) => error.code),
    );
    expect(await Promise.all(outcomes)).toEqual([[{ x: true }], [{ x: true }], 'rate-limited', [{ x: true }]]);
    await small.close();
  });

  it('lets others go first while a query takes long, and replaces its process', async () => {
    const small = await world.open({ processes: 1 });
    await expect.poll(() => small.state.alive).toBe(2);
    const long = world.run(small, 'SELECT count(*) FROM range(100000000000)', { timeoutMs: 240_000 }).catch(() => {});
    const niceness = () => listNiceness(process.pid);
    await expect.poll(niceness).toContain(10);
    await small.close();
    await long;
  });

  it('turns away what it cannot queue', async () => {
    const small = await world.open({ processes: 1, maxQueue: 2 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, () => world.run(small, 'SELECT count(*) FROM range(300000000)', { timeoutMs: 60_000 })),
    );
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as { code: string; extras: { headers: Record<string, string> } }] : [],
    );
    expect(refused.length).toBe(3);
    for (const { code, extras } of refused)
      expect([code, Number(extras.headers['Retry-After'])]).toEqual(['rate-limited', expect.any(Number)]);
    await small.close();
  });

  it('takes who leaves, and who came last of those that fill it, out of the queue', async () => {
    const small = await world.open({ processes: 1, maxQueue: 2 });
    const slow = { timeoutMs: 3_000 };
    const endless = 'SELECT count(*) FROM range(100000000000)';
    const first = refusal(world.run(small, endless, slow));
    const left = new AbortController();
    const leaving = refusal(world.run(small, 'SELECT 1 AS a', { signal: left.signal }));
    const waiting = world.rows(small, 'SELECT 1 AS a');
    await expect.poll(() => small.state.queued).toBe(2);
    left.abort();
    expect((await leaving).code).toBe('unavailable');
    expect(small.state.queued).toBe(1);
    const surplus = refusal(world.run(small, 'SELECT 1 AS a'));
    const other = world.rows(small, 'SELECT 2 AS a', { userId: 'usr_2' });
    expect((await surplus).code).toBe('rate-limited');
    expect([(await first).code, await waiting, await other]).toEqual(['query-timeout', [{ a: 1 }], [{ a: 2 }]]);
    await small.close();
  });

  it('turns away what waits too long', async () => {
    const small = await world.open({ processes: 1, maxWaitMs: 300 });
    const first = world.run(small, 'SELECT count(*) FROM range(100000000000)', { timeoutMs: 2_000 }).catch(() => {});
    expect((await refusal(world.run(small, 'SELECT 1'))).code).toBe('rate-limited');
    await first;
    await small.close();
  });

  it('replaces a process after its share of requests, and goes on', async () => {
    const small = await world.open({ processes: 1, maxServed: 3 });
    for (let i = 0; i < 12; i += 1) expect(await world.rows(small, `SELECT ${i} AS i`)).toEqual([{ i }]);
    await small.close();
  });

  it('replaces a process that has handed on a large result, and no other', async () => {
    const small = await world.open({ processes: 1 });
    const keep = (sql: string) => world.run(small, sql, { keepResult: true, pageLimit: 1 });
    const { resultFile } = await keep('SELECT * FROM range(1000)');
    const folders = async () => (await readdir(dirname(resultFile as string))).filter((name) => name.startsWith('child-'));
    await expect.poll(async () => (await folders()).length).toBe(2);
    const before = await folders();
    await keep('SELECT * FROM range(1000)');
    expect(await folders()).toEqual(before);
    await keep("SELECT repeat('x', 20000) || i AS x FROM range(2500) r(i)");
    await expect.poll(async () => (await folders()).filter((name) => before.includes(name)).length).toBe(1);
    expect(await world.rows(small, 'SELECT 1 AS x')).toEqual([{ x: 1 }]);
    await small.close();
  });

  it('serves many at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) =>
        world.rows(sandbox, 'SELECT $1 + sum(金額) AS s FROM 売上', { userId: `usr_${i % 5}`, params: [i] }),
      ),
    );
    expect(answers.map(([row]) => row?.s)).toEqual(Array.from({ length: 40 }, (_, i) => 600 + i));
  });

  it('closes while queries run, and answers them', async () => {
    const small = await world.open({ processes: 1 });
    const running = [1, 2].map(() => refusal(world.run(small, 'SELECT count(*) FROM range(100000000000)', { timeoutMs: 20_000 })));
    await delay(300);
    await small.close();
    expect((await Promise.all(running)).map(({ code }) => code)).toEqual(['unavailable', 'unavailable']);
    expect((await refusal(world.run(small, 'SELECT 1'))).code).toBe('unavailable');
  });
});
