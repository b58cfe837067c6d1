import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { createTestDatabase } from '../setup/api.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';

/** The API is killed at any moment, also between an effect and its answer: asking again with the same key is safe. */

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let sql: pg.Pool;
let api: ApiProcess;
let env: Record<string, string>;
let session: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = new pg.Pool({ connectionString: database.url, max: 2 });
  sql.on('error', () => {});
  env = {
    DATABASE_URL: database.url,
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

describe('an API that is killed', () => {
  it('under a stream of keyed creations leaves one workbook for each key, and every one that was acknowledged', async () => {
    const acknowledged = new Map<string, string>();
    const asked: string[] = [];
    let effectsWithoutAnswer = 0;

    for (let round = 0; round < 8 && (round < 3 || effectsWithoutAnswer === 0); round++) {
      let killed = false;
      const answeredBefore = acknowledged.size;
      const clients = Array.from({ length: 8 }, async () => {
        while (!killed) {
          const key = randomUUID();
          asked.push(key);
          const id = await create(key);
          if (id) acknowledged.set(key, id);
        }
      });
      // In the middle of the stream, wherever that is on a machine of this speed.
      while (acknowledged.size < answeredBefore + 10) await delay(5);
      await delay(randomInt(1, 100));
      api.child.kill('SIGKILL');
      killed = true;
      await Promise.all(clients);
      await api.ended;
      const { rows } = await sql.query<{ title: string }>('SELECT title FROM workbooks');
      effectsWithoutAnswer += rows.filter(({ title }) => !acknowledged.has(title)).length;
      api = await startApiProcess(env);
      for (const key of asked.filter((each) => !acknowledged.has(each))) {
        const id = await create(key);
        expect(id).not.toBeNull();
        acknowledged.set(key, id as string);
      }
    }

    const { rows } = await sql.query<{ title: string; id: string }>('SELECT title, id FROM workbooks');
    console.log(`${asked.length} requests, ${effectsWithoutAnswer} of them done but not answered when the API was killed`);
    expect(effectsWithoutAnswer).toBeGreaterThan(0);
    expect(rows).toHaveLength(asked.length);
    expect(Object.fromEntries(rows.map(({ title, id }) => [title, id]))).toEqual(Object.fromEntries(acknowledged));
    // Every one of them, asked for once more, is the same.
    for (const key of asked.slice(0, 20)) expect(await create(key)).toBe(acknowledged.get(key));
    const journal = await sql.query(
      "SELECT 1 FROM workbooks b WHERE (SELECT count(*) FROM audit_entries WHERE scope = b.id AND action = 'workbook.created') <> 1",
    );
    expect(journal.rowCount).toBe(0);
  }, 180_000);
});
