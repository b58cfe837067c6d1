import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer as drained } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { quoteText } from '../store/duckdb/relation.ts';
import { makeId } from '../store/services.ts';
import type { EditLoad, EditTimes } from './editClient.ts';
import { compareInTurn, median, report, timeMs } from './measure.ts';
import { post, type TableRig } from './tableRig.ts';

const editsInARound = 100;
const rounds = 9;
/** Enough for the code to be compiled; a service that has just started spends half of its time on that. */
const editsToWarmUp = 4000;
let made = 0;

interface Edited {
  perSecond: number;
  medianMs: number;
}

export async function runEdits(wanted: Omit<EditLoad, 'first'>): Promise<Edited> {
  const load: EditLoad = { ...wanted, first: made };
  made += load.edits;
  const child = fork(fileURLToPath(new URL('./editClient.ts', import.meta.url)), [JSON.stringify(load)], { execArgv: ['--import', 'tsx'] });
  const ended = once(child, 'exit');
  const [times] = (await Promise.race([once(child, 'message'), ended])) as [EditTimes | number];
  await ended;
  if (typeof times !== 'object') throw new Error('the client failed');
  return { perSecond: (times.latenciesMs.length * 1000) / times.elapsedMs, medianMs: median(times.latenciesMs) };
}

/** Compares a row edit on a large and on a small table with the SQL statements of that edit sent by `pg` alone. */
export async function benchRowEdits(tables: TableRig, names: { large: string; small: string }): Promise<void> {
  const { rig } = tables;
  const load = async (name: string) => ({
    url: rig.url,
    token: rig.token,
    tables: [{ path: `${tables.base}/tables/${name}/rows`, rows: (await tables.open(name)).rowCount }],
    edits: editsInARound,
  });
  const [large, small] = [await load(names.large), await load(names.small)];
  const found: Record<'large' | 'small' | 'bare', Edited[]> = { large: [], small: [], bare: [] };
  const statements = await captureEdit(tables, names.large);
  for (let round = 0; round < rounds; round += 1) {
    const figures = {
      large: await runEdits(large),
      small: await runEdits(small),
      bare: await replayEdits(tables, names.large, statements),
    };
    for (const kind of ['large', 'small', 'bare'] as const) found[kind].push(figures[kind]);
  }
  const typical = (kind: 'large' | 'small' | 'bare') => ({
    medianMs: median(found[kind].map((each) => each.medianMs)),
    perSecond: median(found[kind].map((each) => each.perSecond)),
  });
  const [l, s, b] = [typical('large'), typical('small'), typical('bare')];
  console.log(
    `  a row edit: ${l.medianMs.toFixed(1)} ms of 1,000,000 rows, ${s.medianMs.toFixed(1)} ms of 10,000, ${b.medianMs.toFixed(1)} ms for its statements by bare pg`,
  );
  report(
    'a row edit of 1,000,000 rows over one of 10,000',
    `${(l.medianMs / s.medianMs).toFixed(2)}×`,
    'at most 1.5×',
    l.medianMs <= 1.5 * s.medianMs,
  );
  report(
    "a row edit's rate, of that of its statements by bare pg",
    (l.perSecond / b.perSecond).toFixed(2),
    'at least 0.33',
    l.perSecond >= b.perSecond / 3,
  );
}

/** Eight clients edit for a while before anything is measured. */
export async function warmUp(tables: TableRig, names: string[]): Promise<void> {
  const { rig } = tables;
  const paths = names.map((name) => ({ path: `${tables.base}/tables/${name}/rows`, rows: 10_000 }));
  await runEdits({ url: rig.url, token: rig.token, tables: paths, edits: editsToWarmUp });
}

export async function benchManyClients(tables: TableRig, names: string[]): Promise<void> {
  const { rig } = tables;
  const paths = names.map((name) => ({ path: `${tables.base}/tables/${name}/rows`, rows: 10_000 }));
  const load = (clients: number, edits: number) => ({ url: rig.url, token: rig.token, tables: paths.slice(0, clients), edits });
  const one: number[] = [];
  const eight: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [a, b] = [await runEdits(load(1, 2 * editsInARound)), await runEdits(load(8, 4 * editsInARound))];
    one.push(a.perSecond);
    eight.push(b.perSecond);
  }
  const ratio = median(eight) / median(one);
  console.log(`  edits a second: ${median(one).toFixed(0)} by one client, ${median(eight).toFixed(0)} by eight on eight tables`);
  report('eight clients on eight tables of one workbook, over one', `${ratio.toFixed(2)}×`, 'at least 2×', ratio >= 2);
}

/** The same edits with and without an Idempotency-Key, by eight clients on eight tables. */
export async function benchKeyedEdits(tables: TableRig, names: string[]): Promise<void> {
  const { rig } = tables;
  const paths = names.map((name) => ({ path: `${tables.base}/tables/${name}/rows`, rows: 10_000 }));
  const run = async (keyed: boolean) =>
    (await runEdits({ url: rig.url, token: rig.token, tables: paths, edits: 4 * editsInARound, keyed })).perSecond;
  const [bare, keyed]: [number[], number[]] = [[], []];
  // The first round is not counted: statements are prepared in it.
  for (let round = 0; round <= rounds; round += 1) {
    const [first, second] = round % 2 === 0 ? [false, true] : [true, false];
    for (const each of [first, second]) {
      const perSecond = await run(each);
      if (round > 0) (each ? keyed : bare).push(perSecond);
    }
  }
  const ratio = median(keyed) / median(bare);
  console.log(`  edits a second by eight clients: ${median(bare).toFixed(0)}, ${median(keyed).toFixed(0)} with an Idempotency-Key`);
  report('edits with an Idempotency-Key, of those without', ratio.toFixed(2), 'at least 0.7', ratio >= 0.7);
}

interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

/** Records the SQL statements that one edit sends. */
async function captureEdit(tables: TableRig, name: string): Promise<Statement[]> {
  const statements: Statement[] = [];
  const { query } = pg.Client.prototype;
  const spy = function (this: pg.Client, ...args: unknown[]) {
    const [first, second] = args;
    if (typeof first === 'string') statements.push({ text: first, values: Array.isArray(second) ? second : [] });
    else if (first && typeof first === 'object' && 'text' in first) {
      const config = first as Partial<Statement>;
      statements.push({ name: config.name, text: String(config.text), values: config.values ?? (Array.isArray(second) ? second : []) });
    }
    return (query as (...given: unknown[]) => unknown).apply(this, args);
  };
  pg.Client.prototype.query = spy as unknown as typeof query;
  try {
    await post(tables.rig, `${tables.base}/tables/${name}/rows`, { expected_version: null, rows: [{ __svc_row_id: 77, c2: 'captured' }] });
  } finally {
    pg.Client.prototype.query = query;
  }
  if (!statements.some((statement) => statement.name === 'edit_table_commit')) throw new Error('the edit was not seen');
  return statements;
}

/** Sends the same statements on one connection with the service's settings, each time on top of the previous version. */
async function replayEdits(tables: TableRig, name: string, statements: Statement[]): Promise<Edited> {
  const options = `-c svc.accounts=${tables.workbook.accountId} -c plan_cache_mode=force_generic_plan`;
  const client = new pg.Client({ connectionString: tables.rig.config.databaseUrl, options });
  await client.connect();
  try {
    let { editVersion } = await tables.open(name);
    const times: number[] = [];
    const began = performance.now();
    for (let i = 0; i < editsInARound; i += 1) {
      times.push(
        await timeMs(async () => {
          for (const { name: prepared, text, values } of statements) {
            const given = prepared === 'edit_table_commit' ? values.with(1, editVersion).with(2, makeId('ver')) : values;
            const result = given.length === 0 ? await client.query(text) : await client.query({ name: prepared, text, values: given });
            if (prepared === 'edit_table_commit' && result.rows.length !== 1) throw new Error('the edit did not go through');
          }
        }),
      );
      editVersion += 1;
    }
    return { perSecond: (editsInARound * 1000) / (performance.now() - began), medianMs: median(times) };
  } finally {
    await client.end();
  }
}

/** Compares an upsert of 10,000 × 200 through HTTP with DuckDB writing the same rows to Parquet. */
export async function benchWideUpsert(tables: TableRig): Promise<void> {
  const rows = 10_000;
  const width = 200;
  const kinds = ['BIGINT', 'VARCHAR', 'DOUBLE', 'DECIMAL(18,2)'];
  const columns = Array.from({ length: width }, (_, i) => ({ name: `w${i}`, type: kinds[i % kinds.length] as string }));
  await post(tables.rig, `${tables.base}/tables`, { name: 'wide', columns });
  const values = Array.from({ length: rows }, (_, n) =>
    Object.fromEntries(columns.map(({ name, type }, i) => [name, wideValue(type, n, i)])),
  );
  const body = JSON.stringify({ expected_version: null, rows: values });

  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const [json, parquet] = [join(tmpdir(), `svc-bench-${process.pid}.json`), join(tmpdir(), `svc-bench-${process.pid}.parquet`)];
  try {
    await writeFile(json, JSON.stringify(values));
    const types = columns.map(({ name, type }) => `${name}: '${type}'`).join(', ');
    const source = `read_json(${quoteText(json)}, columns = {${types}}, maximum_object_size = 100000000)`;
    await connection.run(`CREATE TABLE wide AS FROM ${source}`);
    const copy = (from: string) => connection.run(`COPY (FROM ${from}) TO ${quoteText(parquet)} (FORMAT parquet, ROW_GROUP_SIZE 20480)`);
    const bytes = Buffer.from(body);
    const ms = await compareInTurn(
      {
        memory: () => copy('wide'),
        json: () => copy(source),
        upsert: () => send(tables, `${tables.base}/tables/wide/rows`, bytes),
      },
      4,
    );
    console.log(
      `  10,000 × 200 (${(bytes.length / 1e6).toFixed(0)} MB of JSON): upsert ${ms.upsert.toFixed(0)} ms; DuckDB to Parquet ${ms.json.toFixed(0)} ms from the same JSON, ${ms.memory.toFixed(0)} ms from its own memory`,
    );
    const ratio = ms.upsert / ms.json;
    report('an upsert of 10,000 × 200, over the same JSON to Parquet', `${ratio.toFixed(2)}×`, 'under 4×', ratio < 4);
    console.log(`  (over rows that DuckDB holds in memory already: ${(ms.upsert / ms.memory).toFixed(1)}×)`);
  } finally {
    connection.closeSync();
    instance.closeSync();
    await Promise.all([rm(json, { force: true }), rm(parquet, { force: true })]);
  }
}

/** Sends prepared bytes, so that the client's work is not measured. */
async function send({ rig }: TableRig, path: string, bytes: Buffer): Promise<void> {
  const sent = request(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/json', 'content-length': bytes.length },
  });
  sent.end(bytes);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  await drained(answer);
  if (answer.statusCode !== 200) throw new Error(`the upsert failed: ${answer.statusCode}`);
}

function wideValue(type: string, n: number, i: number): string | number {
  switch (type) {
    case 'BIGINT':
      return (n * 31 + i) % 100_000;
    case 'VARCHAR':
      return `v${(n * 7 + i) % 10_000}`;
    case 'DOUBLE':
      return ((n + i) % 1000) / 8;
    default:
      return `${(n + i) % 1000}.25`;
  }
}
