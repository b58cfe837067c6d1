import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { acrossAccounts } from '../store/pg/accountScope.ts';
import { makeXlsx, sheetName } from './makeXlsx.ts';
import { report } from './measure.ts';
import type { QueryLoad, QueryTimes } from './queryClient.ts';
import { type Roapi, startRoapi } from './roapi.ts';
import type { BenchRig } from './services.ts';
import { TableRig } from './tableRig.ts';

const rows = 200_000;
const clients = 8;
const durationMs = 4_000;
/** Of one load; the next begins after it, since what was asked before is answered from kept results. */
const mostAsked = 9_973;

/** What is asked, here and of roapi, which read the same workbook. Each query is another, so that no kept result answers it. */
const kinds: { name: string; sql: string; wanted: number }[] = [
  {
    name: 'group-by',
    sql: 'SELECT "地域", count(*) AS n, sum("金額") AS s FROM t WHERE "数量" <> {n} GROUP BY "地域" ORDER BY "地域"',
    wanted: 1.8,
  },
  {
    name: 'group-by two columns',
    sql: 'SELECT "地域", "担当", count(*) AS n, sum("金額") AS s, avg("単価") AS p FROM t WHERE "数量" <> {n} GROUP BY "地域", "担当" ORDER BY s DESC',
    wanted: 1.8,
  },
  { name: 'point', sql: 'SELECT * FROM t WHERE "伝票番号" = 1000000 + {n}', wanted: 0.5 },
  { name: 'page of 1,000', sql: 'SELECT * FROM t LIMIT 1000 OFFSET {n}', wanted: 1.5 },
  {
    name: 'page of 1,000 by range',
    sql: 'SELECT * FROM t WHERE "伝票番号" >= 1000000 + {n} ORDER BY "伝票番号" LIMIT 1000',
    wanted: 1.5,
  },
];

/** What costs the same over ten times the rows. */
const steady: { name: string; sql: string }[] = [
  { name: 'point', sql: 'SELECT * FROM t WHERE c1 = {n} * 7' },
  { name: 'page of 1,000', sql: 'SELECT * FROM t LIMIT 1000 OFFSET {n}' },
  { name: 'page of 1,000 by range', sql: 'SELECT * FROM t WHERE c1 >= {n} * 7 ORDER BY c1 LIMIT 1000' },
];

/** Queries a second of one account, beside roapi, which keeps the same table in memory and does less. */
export async function benchQuery(rig: BenchRig): Promise<void> {
  await acrossAccounts(() => measureQueries(rig));
}

async function measureQueries(rig: BenchRig): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-query-'));
  let asked = 0;
  const load = (base: string, sql: string, span: number, count: number) => {
    const first = asked;
    asked += mostAsked;
    const headers = [`authorization: Bearer ${rig.token}`, 'content-type: application/json'];
    const body = JSON.stringify({ sql });
    return runClients({ url: rig.url, headers, path: `${base}/query`, clients: count, durationMs, body, span, first });
  };
  /** After others: what is made ready for a table that is asked often is not part of the measure. */
  const measure = async (base: string, sql: string, before = 1) => {
    for (let i = 0; i < before; i += 1) await load(base, sql, rows, clients);
    return load(base, sql, rows, clients);
  };
  try {
    const file = join(folder, 't.xlsx');
    await makeXlsx(file, rows);
    const base = await upload(rig, file);
    const roapi = await startRoapi({ t: { uri: file, sheet: sheetName } });
    try {
      // The first thousands of queries teach the service's own code to run; people do not wait for that either.
      for (const { sql } of kinds) await load(base, sql, rows, clients);
      for (const { name, sql, wanted } of kinds) {
        const ours = await measure(base, sql);
        const theirs = roapi && (await askRoapi(roapi, sql));
        console.log(
          `  ${name}: ${ours.perSecond.toFixed(0)}/s (median ${ours.medianMs.toFixed(1)} ms), roapi ${theirs?.perSecond.toFixed(0) ?? '–'}/s`,
        );
        if (!theirs) continue;
        const ratio = ours.perSecond / theirs.perSecond;
        report(`${name}, ${clients} clients, beside roapi`, `${ratio.toFixed(2)}×`, `at least ${wanted}×`, ratio >= wanted);
      }
    } finally {
      await roapi?.stop();
    }
    const [small, tenfold] = [await TableRig.open(rig), await TableRig.open(rig)];
    await small.makeTable('t', rows);
    await tenfold.makeTable('t', rows * 10);
    for (const { name, sql } of steady) {
      const growth = (await measure(tenfold.base, sql, 3)).perSecond / (await measure(small.base, sql, 3)).perSecond;
      report(`${name} over 10 × the rows`, `${growth.toFixed(2)}×`, 'at least 0.8×', growth >= 0.8);
    }
    const alone = await load(small.base, steady[0]?.sql ?? '', rows, 1);
    report('point, one client, median', `${alone.medianMs.toFixed(1)} ms`, 'at most 8 ms', alone.medianMs <= 8);
    const repeated = await load(small.base, 'SELECT c7, count(*) AS n FROM t GROUP BY c7 ORDER BY c7', 0, clients);
    report('the same query again', `${repeated.perSecond.toFixed(0)}/s`, 'at least 1,000/s', repeated.perSecond >= 1_000);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As people do; returns the path of the workbook. */
async function upload({ url, token }: BenchRig, file: string): Promise<string> {
  const send = async (path: string, body: FormData | string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', body, headers: { authorization: `Bearer ${token}`, ...headers } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const { id } = await send('/api/v1/workbooks', '{"title":"bench"}', { 'content-type': 'application/json' });
  const form = new FormData();
  form.set('file', new Blob([await readFile(file)]), 't.xlsx');
  await send(`/api/v1/workbooks/${id}/sources`, form);
  const base = `/api/v1/workbooks/${id}`;
  // A long file is answered before it is read.
  const hasTable = async () => (await fetch(`${url}${base}/tables/t`, { headers: { authorization: `Bearer ${token}` } })).status === 200;
  while (!(await hasTable())) await delay(200);
  return base;
}

function askRoapi({ url }: Roapi, sql: string): Promise<QueryTimes> {
  return runClients({ url, headers: [], path: '/api/sql', clients, durationMs, body: sql, span: rows, first: 0 });
}

async function runClients(load: QueryLoad): Promise<QueryTimes> {
  const program = fileURLToPath(new URL('./queryClient.ts', import.meta.url));
  const child = fork(program, [JSON.stringify(load)], { execArgv: ['--import', 'tsx'] });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [null])]);
  if (message === null) throw new Error('the clients failed');
  return message as QueryTimes;
}
