import { randomInt, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type RunningPostgres, startPostgres } from '../../scripts/embedded/postgres.ts';
import { createProcessRegistry, type ProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import type { RunningProcess } from '../../scripts/embedded/runningProcess.ts';
import { openDatabase } from '../../store/pg/database.ts';
import { migrateDatabase } from '../../store/pg/migrate.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';
import { openSql } from '../setup/everybody.ts';

/** PostgreSQL is killed under load, with everything about durability as it is in production. */

const quiet = { say() {}, progress() {} };

let dataDir: string;
let registry: ProcessRegistry;
let reaper: RunningProcess;
let postgres: RunningPostgres;
let sql: pg.Pool;
let api: ApiProcess;
let session: string;

beforeAll(async () => {
  dataDir = await realpath(await mkdtemp(join(tmpdir(), 'svc-test-database-')));
  registry = createProcessRegistry(null);
  registry.removeAtEnd(dataDir);
  reaper = await registry.startReaper();
  postgres = await startPostgres({ dataDir, report: quiet, registry });
  const db = openDatabase(postgres.url, { poolSize: 2, onError: () => {} });
  await migrateDatabase(db);
  await db.close();
  sql = openSql(postgres.url, 2);
  api = await startApiProcess({
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    SVC_DATA_DIR: dataDir,
    SVC_RATE_LIMITS: 'off',
  });
  const signUp = await send('POST', '/api/auth/signup', { email: 'fault@example.com', password: 'long enough to pass' });
  session = signUp.body.session_token as string;
});
afterAll(async () => {
  await api?.stop();
  await sql?.end();
  await postgres?.stop();
  await reaper?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
});

interface Answer {
  status: number;
  type: string;
  body: Record<string, unknown>;
  ms: number;
}

async function send(method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
  const started = performance.now();
  let answer: Response;
  try {
    answer = await request(method, path, body, key);
  } catch {
    // No answer at all: the API itself has gone.
    return { status: 0, type: '', body: { type: api.output() }, ms: performance.now() - started };
  }
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  return { status: answer.status, type, body: text ? (JSON.parse(text) as Record<string, unknown>) : {}, ms: performance.now() - started };
}

function request(method: string, path: string, body?: unknown, key?: string): Promise<Response> {
  return fetch(`${api.url}${path}`, {
    method,
    headers: {
      ...(session ? { Authorization: `Bearer ${session}` } : {}),
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(key ? { 'Idempotency-Key': key } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** kill -9 of the server and everything it has started, all in one moment. */
async function killPostgres(): Promise<void> {
  const children = listChildren();
  expect(children.length).toBeGreaterThan(3);
  for (const pid of [postgres.pid, ...children]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // A connection that ended by itself in this moment.
    }
  }
  await postgres.ended;
}

/** What PostgreSQL has started. */
function listChildren(): number[] {
  const readParent = (stat: string) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && readParent(readProc(pid, 'stat')) === postgres.pid);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

async function restartPostgres(): Promise<void> {
  postgres = await startPostgres({ dataDir, report: quiet, registry, port: postgres.port });
}

async function titles(): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ title: string; n: number }>('SELECT title, count(*)::int AS n FROM workbooks GROUP BY title');
  return new Map(rows.map(({ title, n }) => [title, n]));
}

describe('PostgreSQL is killed', () => {
  it('with everything on that keeps what was written', async () => {
    const { rows } = await sql.query(
      "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit, current_setting('full_page_writes') AS pages",
    );
    expect(rows).toEqual([{ fsync: 'on', commit: 'on', pages: 'on' }]);
  });

  it('and what is committed without waiting for the disk is lost: the kill is a real one', async () => {
    await sql.query('CREATE TABLE control_group (n int)');
    const client = await sql.connect();
    client.on('error', () => {});
    await client.query('SET synchronous_commit = off');
    // Nobody else brings it to the disk meanwhile, however long the kill takes on a busy machine.
    const writers = listChildren().filter((pid) => readProc(pid, 'cmdline').includes('walwriter'));
    expect(writers).toHaveLength(1);
    process.kill(writers[0] as number, 'SIGSTOP');
    api.child.kill('SIGSTOP');
    for (let n = 0; n < 20; n++) await client.query('INSERT INTO control_group VALUES ($1)', [n]);
    await killPostgres();
    api.child.kill('SIGCONT');
    client.release(true);
    await restartPostgres();
    const { rows } = await sql.query<{ n: number }>('SELECT count(*)::int AS n FROM control_group');
    expect(rows[0]?.n).toBeLessThan(20);
  });

  it('under load, twice: no acknowledged write is lost, nothing is done twice, and the API goes on', async () => {
    const shared = (await send('POST', '/api/v1/workbooks', { title: 'Everybody writes here' })).body.id as string;
    const keyed = { asked: new Set<string>(), acknowledged: new Map<string, string>() };
    const unkeyed = { asked: new Set<string>(), acknowledged: new Set<string>() };
    let patched = 0;
    let renamed = 0;
    const refusals: Answer[] = [];
    let gone: Answer | undefined;
    const note = (answer: Answer) => {
      if (answer.status === 0) gone ??= answer;
      else if (answer.status >= 400) refusals.push(answer);
      return answer.status >= 200 && answer.status < 300;
    };

    let stop = false;
    const untilStopped = async (work: () => Promise<void>) => {
      while (!stop && !gone) await work();
    };
    const expectAlive = () =>
      expect({ exit: api.child.exitCode, signal: api.child.signalCode, said: gone?.body.type ?? '' }).toEqual({
        exit: null,
        signal: null,
        said: '',
      });
    const clients = [
      ...Array.from({ length: 5 }, () =>
        untilStopped(async () => {
          const key = randomUUID();
          keyed.asked.add(key);
          // As the problem document says: again, with the same key.
          while (!gone) {
            const answer = await send('POST', '/api/v1/workbooks', { title: key }, key);
            if (note(answer)) {
              keyed.acknowledged.set(key, answer.body.id as string);
              return;
            }
            await delay(50);
          }
        }),
      ),
      ...Array.from({ length: 4 }, () =>
        untilStopped(async () => {
          const title = `unkeyed ${randomUUID()}`;
          unkeyed.asked.add(title);
          if (note(await send('POST', '/api/v1/workbooks', { title }))) unkeyed.acknowledged.add(title);
          else await delay(50);
        }),
      ),
      ...Array.from({ length: 2 }, () =>
        untilStopped(async () => {
          renamed += 1;
          if (note(await send('PATCH', `/api/v1/workbooks/${shared}`, { title: `Everybody writes here ${renamed}` }))) patched += 1;
          else await delay(50);
        }),
      ),
      untilStopped(async () => {
        if (!note(await send('GET', '/api/v1/me'))) await delay(50);
      }),
    ];

    for (let round = 0; round < 2; round++) {
      const before = keyed.acknowledged.size;
      while (!gone && keyed.acknowledged.size < before + 40) await delay(10);
      await delay(randomInt(1, 150));
      await killPostgres();
      // Until the clients have met the outage, as often as there are clients.
      for (const met = refusals.length; !gone && refusals.length < met + clients.length; ) await delay(10);
      expectAlive();
      const health = await send('GET', '/healthz');
      expect(health.status).toBe(200);
      expect((await send('GET', '/readyz')).status).toBe(503);
      await restartPostgres();
      const since = Date.now();
      while ((await send('GET', '/readyz')).status !== 200) {
        expect(Date.now() - since).toBeLessThan(30_000);
        await delay(50);
      }
    }
    const after = keyed.acknowledged.size;
    while (!gone && keyed.acknowledged.size < after + 20) await delay(10);
    stop = true;
    await Promise.all(clients);
    expectAlive();

    const stored = await titles();
    console.log(
      `${keyed.acknowledged.size} keyed, ${unkeyed.acknowledged.size} unkeyed creations and ${patched} changes acknowledged, ` +
        `${refusals.length} requests refused meanwhile, the slowest after ${Math.round(Math.max(...refusals.map(({ ms }) => ms)))} ms`,
    );
    expect(keyed.acknowledged.size).toBe(keyed.asked.size);
    const wrong = [...keyed.asked].filter((key) => stored.get(key) !== 1);
    expect(wrong).toEqual([]);
    const lost = [...unkeyed.acknowledged].filter((title) => stored.get(title) !== 1);
    expect(lost).toEqual([]);
    expect([...unkeyed.asked].filter((title) => (stored.get(title) ?? 0) > 1)).toEqual([]);
    for (const [key, id] of [...keyed.acknowledged].slice(-10))
      expect((await send('POST', '/api/v1/workbooks', { title: key }, key)).body.id).toBe(id);

    // Nobody was told anything but "not just now".
    expect(refusals.length).toBeGreaterThan(5);
    const odd = refusals.filter(
      ({ status, body, type }) =>
        status !== 503 || body.type !== 'urn:svc:problem:unavailable' || !type.startsWith('application/problem+json'),
    );
    expect(odd.map(({ status, body }) => [status, body.type])).toEqual([]);

    // The journal has an entry for each acknowledged change, and its chain is whole.
    const log = (await send('GET', `/api/v1/workbooks/${shared}/audit-log?limit=1`)).body as {
      chain_valid: boolean;
      entries: { seq: number }[];
    };
    expect(log.chain_valid).toBe(true);
    expect(log.entries[0]?.seq).toBeGreaterThanOrEqual(patched + 1);
    const gaps = await sql.query('SELECT scope FROM audit_entries GROUP BY scope HAVING count(*) <> max(seq)');
    expect(gaps.rowCount).toBe(0);
    const headless = await sql.query('SELECT 1 FROM workbooks b LEFT JOIN heads h ON h.scope = b.id WHERE h.scope IS NULL');
    expect(headless.rowCount).toBe(0);
  });
});
