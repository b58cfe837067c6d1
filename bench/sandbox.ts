import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { quoteText, type Relation } from '../store/duckdb/relation.ts';
import { bubblewrapIsolation, findBubblewrap } from '../store/duckdb/sandbox/isolation.ts';
import { startProcess } from '../store/duckdb/sandbox/process.ts';
import { findChildProgram } from '../store/duckdb/sandbox/program.ts';
import { openSandbox } from '../store/duckdb/sandbox/sandbox.ts';
import { median } from './measure.ts';

const rows = 1_000_000;
const rounds = 25;
const searchPath = (process.env.PATH ?? '').split(delimiter);

const queries: [string, string][] = [
  ['SELECT 1', 'SELECT 1 AS x'],
  ['a page of 100', 'SELECT * FROM facts LIMIT 100'],
  ['a point', 'SELECT * FROM facts WHERE id = 424242'],
  ['a filter', 'SELECT id, amount FROM facts WHERE city = 7 AND amount > 990 LIMIT 1000'],
  ['a group', 'SELECT city, count(*) AS n, sum(amount) AS s FROM facts GROUP BY city ORDER BY city'],
  ['100,000 rows', 'SELECT id, amount, label FROM facts LIMIT 100000'],
];

/** The cost of a query in the sandbox compared with a bare DuckDB with one thread. */
export async function benchSandbox(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const file = join(dir, 'facts.parquet');
  const bare = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  const more = Array.from({ length: 8 }, (_, i) => `hash(i + ${i}) % 1000 AS m${i}`).join(', ');
  await bare.run(
    `COPY (SELECT i AS id, i % 47 AS city, (i * 7919) % 1000 AS amount, 'label ' || i AS label, ${more} FROM range(${rows}) r(i)) TO ${quoteText(file)} (FORMAT parquet, ROW_GROUP_SIZE 20480)`,
  );
  const select = (path: string) => `SELECT * FROM read_parquet(${quoteText(path)})`;
  await bare.run(`CREATE VIEW facts AS ${select(file)}`);
  const columns = ['id', 'city', 'amount', 'label', ...Array.from({ length: 8 }, (_, i) => `m${i}`)].map((name) => ({
    name,
    type: 'BIGINT',
    masked: false,
  }));
  const open: Relation = {
    name: 'facts',
    columns,
    files: ['facts'],
    tail: null,
    tailFile: null,
    governed: false,
    versionUid: 'v',
    editVersion: 1,
    rowCount: rows,
    select: (pathOf) => select(pathOf('facts')),
  };
  const governed: Relation = { ...open, governed: true };

  const sandbox = await openSandbox({ dir: join(dir, 'sandbox'), searchPath, processes: 2 });
  await delay(1_000);

  const runIn = (relation: Relation, sql: string, keepResult: boolean) =>
    sandbox.run({
      userId: 'a',
      sql,
      relations: [relation],
      pathOf: () => file,
      pageLimit: 1000,
      timeoutMs: 60_000,
      maxRows: 5_000_000,
      maxBytes: 1e9,
      keepResult,
    });

  const show = (ms: number) => ms.toFixed(1).padStart(9);
  console.log(`${rows} rows, medians (and best) of ${rounds} in ms; the isolation is ${sandbox.isolation}`);
  console.log(`${''.padEnd(16)}     bare   sandbox  overhead  with file  governed       best: bare   sandbox  overhead`);
  for (const [name, sql] of queries) {
    const [plain, page, kept, hidden] = await compare([
      () => bare.runAndReadAll(sql),
      () => runIn(open, sql, false),
      () => runIn(open, sql, true).then(removeResult),
      () => runIn(governed, sql, false),
    ]);
    if (!plain || !page || !kept || !hidden) continue;
    const medians = [plain.median, page.median, page.median - plain.median, kept.median, hidden.median].map(show).join(' ');
    console.log(`${name.padEnd(16)}${medians}       ${[plain.best, page.best, page.best - plain.best].map(show).join(' ')}`);
  }

  const bwrap = findBubblewrap(searchPath);
  if (bwrap) {
    const isolation = bubblewrapIsolation(bwrap, await findChildProgram());
    const starts: number[] = [];
    for (let i = 0; i < 10; i += 1) {
      const began = performance.now();
      (await startProcess(isolation, dir)).kill();
      starts.push(performance.now() - began);
    }
    console.log(`to prepare a process: ${median(starts).toFixed(0)} ms (best ${Math.min(...starts).toFixed(0)} ms)`);
  }
  const began = performance.now();
  const many = 60;
  await Promise.all(Array.from({ length: many }, (_, i) => runIn({ ...open }, `SELECT ${i}`, false)));
  console.log(`one account, ${many} queries at once: ${((many * 1000) / (performance.now() - began)).toFixed(0)} a second`);
  await sandbox.close();
  await rm(dir, { recursive: true, force: true });
}

/** Runs them in turn, so that machine load affects all. */
async function compare(ways: (() => Promise<unknown>)[]): Promise<{ median: number; best: number }[]> {
  const times: number[][] = ways.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, way] of ways.entries()) {
      // Leaves time to prepare the next process, as when queries arrive one by one.
      await delay(80);
      const began = performance.now();
      await way();
      times[i]?.push(performance.now() - began);
    }
  }
  return times.map((list) => ({ median: median(list), best: Math.min(...list) }));
}

async function removeResult(result: { resultFile: string | null }): Promise<void> {
  if (result.resultFile !== null) await rm(result.resultFile);
}
