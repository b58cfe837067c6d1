import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { createTestDatabase } from '../setup/api.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../setup/databaseProxy.ts';
import { openSql } from '../setup/everybody.ts';

/** The API is killed at any moment, also between an effect and its answer: asking again with the same key is safe. */

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let sql: pg.Pool;
let api: ApiProcess;
let proxy: DatabaseProxy;
let env: Record<string, string>;
let session: string;

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
  const answer = await fetch(`${api.url}/api/auth/signup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"email":"crash@example.com","password":"long enough to pass"}',
  });
  session = ((await answer.json()) as { session_token: string }).session_token;
});
afterAll(async () => {
  await api.stop();
  await proxy.stop();
  await sql.end();
  await database.drop();
});

/** The workbook's id, or null when no answer came. */
async function create(key: string): Promise<string | null> {
  try {
    const answer = await fetch(`${api.url}/api/v1/workbooks`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ title: key }),
    });
    const body = (await answer.json()) as { id: string };
    if (answer.status === 201) return body.id;
    expect([answer.status, body]).toEqual([expect.toBeOneOf([409, 503]), expect.anything()]);
    return null;
  } catch (error) {
    if (error instanceof TypeError || (error as Error).name === 'SyntaxError') return null;
    throw error;
  }
}

/** What the killed process has begun is still carried out by PostgreSQL, and until then it is in the way of who asks again. */
const underWay = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'`;

describe('Idempotency-Key: an API that is killed', () => {
  const acknowledged = new Map<string, string>();
  const asked: string[] = [];

  /** Eight clients that create, each under a new key, until the API is gone; `beforeKill` says when to kill it. */
  async function createUntilKilled(beforeKill: () => Promise<void>): Promise<void> {
    let killed = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!killed) {
        const key = randomUUID();
        asked.push(key);
        const id = await create(key);
        if (id) acknowledged.set(key, id);
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

  const stored = async () => (await sql.query<{ title: string; id: string }>('SELECT title, id FROM workbooks')).rows;

  async function restartAndAskAgain(): Promise<void> {
    await expect.poll(async () => (await sql.query(underWay)).rowCount).toBe(0);
    api = await startApiProcess(env);
    for (const key of asked.filter((each) => !acknowledged.has(each))) {
      const id = await create(key);
      expect(id).not.toBeNull();
      acknowledged.set(key, id as string);
    }
    const rows = await stored();
    expect(rows).toHaveLength(asked.length);
    expect(Object.fromEntries(rows.map(({ title, id }) => [title, id]))).toEqual(Object.fromEntries(acknowledged));
  }

  it.each([1, 2])('at a random moment leaves one workbook for each key, and all that it acknowledged (%d)', async () => {
    await createUntilKilled(() => delay(randomInt(1, 100)));
    const present = new Set((await stored()).map(({ title }) => title));
    expect([...acknowledged.keys()].filter((key) => !present.has(key))).toEqual([]);
    await restartAndAskAgain();
  });

  it('between an effect and its answer does nothing twice', async () => {
    await createUntilKilled(async () => {
      proxy.swallowCommits();
      while (proxy.swallowed() < 4) await delay(5);
      // They are carried out all the same.
      const unheard = async () => (await stored()).filter(({ title }) => !acknowledged.has(title)).length;
      while ((await unheard()) < 4) await delay(5);
    });
    proxy.passAll();
    const unanswered = (await stored()).filter(({ title }) => !acknowledged.has(title));
    expect(unanswered.length).toBeGreaterThanOrEqual(4);
    await restartAndAskAgain();
    // The answer that was never heard: the same workbook, not another one.
    for (const { title, id } of unanswered) expect(acknowledged.get(title)).toBe(id);
    const journal = await sql.query(
      "SELECT 1 FROM workbooks b WHERE (SELECT count(*) FROM audit_entries WHERE scope = b.id AND action = 'workbook.created') <> 1",
    );
    expect(journal.rowCount).toBe(0);
  });
});
