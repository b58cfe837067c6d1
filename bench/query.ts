import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../store/duckdb/relation.ts';
import { acrossAccounts } from '../store/pg/accountScope.ts';
import { report } from './measure.ts';
import type { QueryLoad, QueryTimes } from './queryClient.ts';
import { type Roapi, startRoapi } from './roapi.ts';
import type { BenchRig } from './services.ts';
import { columns, TableRig } from './tableRig.ts';

const rows = 200_000;
const clients = 8;
const durationMs = 4_000;

/** What is asked. Each query is another, so that no kept result answers it. */
const kinds: { name: string; sql: string; wanted: number; grows: boolean }[] = [
  {
    name: 'group-by',
    sql: 'SELECT c7, count(*) AS n, sum(c12) AS s FROM t WHERE c10 <> {n} GROUP BY c7 ORDER BY c7',
    wanted: 1.8,
    grows: true,
  },
  { name: 'point', sql: 'SELECT * FROM t WHERE c1 = {n} * 7', wanted: 0.5, grows: false },
  { name: 'page of 1,000', sql: 'SELECT * FROM t LIMIT 1000 OFFSET {n}', wanted: 1.5, grows: false },
  { name: 'page of 1,000 by range', sql: 'SELECT * FROM t WHERE c1 >= {n} * 7 ORDER BY c1 LIMIT 1000', wanted: 1.5, grows: false },
];

/** Queries a second of one account, beside roapi, which keeps the same table in memory and does less. */
export async function benchQuery(rig: BenchRig): Promise<void> {
  await acrossAccounts(() => measureQueries(rig));
}

async function measureQueries(rig: BenchRig): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-query-'));
  const tables = await TableRig.open(rig);
  const tenfold = await TableRig.open(rig);
  await tables.makeTable('t', rows);
  await tenfold.makeTable('t', rows * 10);
  const file = join(folder, 't.parquet');
  await writeParquet(file);
  const roapi = await startRoapi({ t: file });
  let first = 0;
  const load = (base: string, sql: string, span: number, count: number) => {
    first += 1_000_000;
    const headers = [`authorization: Bearer ${rig.token}`, 'content-type: application/json'];
    const body = JSON.stringify({ sql });
    return runClients({ url: rig.url, headers, path: `${base}/query`, clients: count, durationMs, body, span, first });
  };
  try {
    for (const { name, sql, wanted, grows } of kinds) {
      await load(tables.base, sql, rows, clients);
      const ours = await load(tables.base, sql, rows, clients);
      const theirs = roapi && (await askRoapi(roapi, sql));
      console.log(
        `  ${name}: ${ours.perSecond.toFixed(0)}/s (median ${ours.medianMs.toFixed(1)} ms), roapi ${theirs?.perSecond.toFixed(0) ?? '–'}/s`,
      );
      if (theirs) {
        const ratio = ours.perSecond / theirs.perSecond;
        report(`${name}, ${clients} clients, beside roapi`, `${ratio.toFixed(2)}×`, `at least ${wanted}×`, ratio >= wanted);
      }
      if (grows) continue;
      await load(tenfold.base, sql, rows, clients);
      const large = await load(tenfold.base, sql, rows, clients);
      const growth = large.perSecond / ours.perSecond;
      report(`${name} over 10 × the rows`, `${growth.toFixed(2)}×`, 'at least 0.8×', growth >= 0.8);
    }
    const alone = await load(tables.base, kinds[1]?.sql ?? '', rows, 1);
    report('point, one client, median', `${alone.medianMs.toFixed(1)} ms`, 'at most 8 ms', alone.medianMs <= 8);
    const repeated = await load(tables.base, 'SELECT c7, count(*) AS n FROM t GROUP BY c7 ORDER BY c7', 0, clients);
    report('the same query again', `${repeated.perSecond.toFixed(0)}/s`, 'at least 1,000/s', repeated.perSecond >= 1_000);
  } finally {
    await roapi?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function askRoapi({ url }: Roapi, sql: string): Promise<QueryTimes> {
  return runClients({ url, headers: [], path: '/api/sql', clients, durationMs, body: sql, span: rows, first: 0 });
}

async function writeParquet(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const list = columns.map(({ name, type, sql }) => `CAST(${sql} AS ${type}) AS ${name}`).join(', ');
  await connection.run(`COPY (SELECT ${list} FROM range(1, ${rows + 1}) r(i)) TO ${quoteText(path)} (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
}

async function runClients(load: QueryLoad): Promise<QueryTimes> {
  const program = fileURLToPath(new URL('./queryClient.ts', import.meta.url));
  const child = fork(program, [JSON.stringify(load)], { execArgv: ['--import', 'tsx'] });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [null])]);
  if (message === null) throw new Error('the clients failed');
  return message as QueryTimes;
}
