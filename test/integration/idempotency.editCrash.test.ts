import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { createTestDatabase } from '../setup/api.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../setup/databaseProxy.ts';
import { openSql } from '../setup/everybody.ts';

/** The API is killed while edits with keys go along together: asking again with the same key is safe. */

const tables = ['t0', 't1', 't2', 't3'];

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let sql: pg.Pool;
let api: ApiProcess;
let proxy: DatabaseProxy;
let env: Record<string, string>;
let session = '';
let workbook: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = openSql(database.url, 2);
  proxy = await startDatabaseProxy(database.url);
  env = {
    DATABASE_URL: proxy.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    SVC_RATE_LIMITS: 'off',
    PORT: String(await findFreePort()),
  };
  api = await startApiProcess(env);
  const { session_token: token } = await post<{ session_token: string }>('/api/auth/signup', {
    email: 'crash@example.com',
    password: 'long enough to pass',
  });
  session = token;
  workbook = `/api/v1/workbooks/${(await post<{ id: string }>('/api/v1/workbooks', { title: 't' })).id}`;
  for (const name of tables) await post(`${workbook}/tables`, { name, columns: [{ name: 'key' }] });
});
afterAll(async () => {
  await api.stop();
  await proxy.stop();
  await sql.end();
  await database.drop();
});

function send(path: string, body: object, key?: string): Promise<Response> {
  return fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: {
      ...(session === '' ? {} : { Authorization: `Bearer ${session}` }),
      'Content-Type': 'application/json',
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    },
    body: JSON.stringify(body),
  });
}

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await send(path, body);
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as T;
}

interface Edit {
  table: string;
  key: string;
}

/** Adds a row that holds the key. The answer's bytes, or null when none came. */
async function add({ table, key }: Edit): Promise<string | null> {
  try {
    const answer = await send(`${workbook}/tables/${table}/rows`, { expected_version: null, rows: [{ key }] }, key);
    const text = await answer.text();
    if (answer.status === 200) return text;
    expect([answer.status, text]).toEqual([expect.toBeOneOf([409, 503]), expect.anything()]);
    return null;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** What the killed process has begun is still carried out by PostgreSQL, and until then it is in the way of who asks again. */
const underWay = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'`;

describe('Idempotency-Key of edits: an API that is killed', () => {
  const asked: Edit[] = [];
  const acknowledged = new Map<string, string>();
  let askedAgain = 0;

  /** Eight clients, two on each table, until the API is gone; `beforeKill` says when to kill it. */
  async function addUntilKilled(beforeKill: () => Promise<void>): Promise<void> {
    let killed = false;
    const clients = Array.from({ length: 8 }, async (_, i) => {
      while (!killed) {
        const edit = { table: tables[i % tables.length] as string, key: randomUUID() };
        asked.push(edit);
        const text = await add(edit);
        if (text !== null) acknowledged.set(edit.key, text);
      }
    });
    const before = acknowledged.size;
    while (acknowledged.size < before + 10) await delay(5);
    await beforeKill();
    killed = true;
    api.child.kill('SIGKILL');
    await Promise.all(clients);
    await api.ended;
  }

  /** The key in each row that was added, with the row's id and the op of its version. */
  const stored = async () =>
    (
      await sql.query<{ key: string; row_id: number; op_id: number }>(
        `SELECT l.cells->>'1' AS key, l.row_id::int, o.op_id::int FROM row_log l
         JOIN ops o ON o.table_id = l.table_id AND o.edit_version = l.edit_version`,
      )
    ).rows;

  async function restartAndAskAgain(): Promise<void> {
    await expect.poll(async () => (await sql.query(underWay)).rowCount).toBe(0);
    api = await startApiProcess(env);
    for (const edit of asked.slice(askedAgain)) {
      const text = await add(edit);
      expect(text).not.toBeNull();
      // What was acknowledged is answered with the same bytes; the rest is done now, or was.
      expect(text).toBe(acknowledged.get(edit.key) ?? text);
      acknowledged.set(edit.key, text as string);
    }
    askedAgain = asked.length;
    const rows = await stored();
    expect(rows).toHaveLength(asked.length);
    for (const { key, row_id, op_id } of rows)
      expect(JSON.parse(acknowledged.get(key) as string)).toMatchObject({ row_ids: [row_id], op_id, inserted: 1 });
  }

  it('at a random moment leaves one row for each key, and all that it acknowledged', async () => {
    await addUntilKilled(() => delay(randomInt(1, 100)));
    const present = new Set((await stored()).map(({ key }) => key));
    expect([...acknowledged.keys()].filter((key) => !present.has(key))).toEqual([]);
    await restartAndAskAgain();
  });

  it('between an effect and its answer does nothing twice', async () => {
    const unheard = async () => (await stored()).filter(({ key }) => !acknowledged.has(key));
    await addUntilKilled(async () => {
      proxy.swallowCommits('edit_table_commit_once');
      while (proxy.swallowed() < 1) await delay(5);
      // It is carried out all the same.
      while ((await unheard()).length < 1) await delay(5);
    });
    proxy.passAll();
    const unanswered = await unheard();
    expect(unanswered.length).toBeGreaterThanOrEqual(1);
    await restartAndAskAgain();
    // The answers that were never heard tell of the rows that were there.
    for (const { key, row_id } of unanswered) expect(JSON.parse(acknowledged.get(key) as string)).toMatchObject({ row_ids: [row_id] });
  });
});
