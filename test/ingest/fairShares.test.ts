import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepJobs } from '../../activities/jobs/sweepJobs.ts';
import { makeAccount, makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { type IngestWorld, openWorld } from './world.ts';

/** One person brings many files; the others must not wait for all of them. */

const perUser = 4;
let world: IngestWorld;
beforeAll(async () => {
  world = await openWorld({ worker: false, env: { SVC_JOBS_PER_USER: String(perUser) } });
});
afterAll(() => world.stop());

let files = 0;
const send = async (workbookId: string, token: string) => {
  files += 1;
  const fields = { async: 'true', structuring: 'skip' };
  const response = await world.send(`file${files}.csv`, `item,amount\npaper,${files}\n`, { workbookId, token, fields });
  expect(response.status).toBe(202);
  return ((await response.json()) as { job_id: string }).job_id;
};

const countJobs = async (userId: string, condition: string) =>
  Number((await world.api.sql.query(`SELECT count(*) FROM jobs WHERE user_id = $1 AND ${condition}`, [userId])).rows[0].count);

const waitUntilDone = (userId: string) =>
  expect.poll(() => countJobs(userId, 'finished_at IS NULL'), { timeout: 120_000, interval: 200 }).toBe(0);

describe('jobs of many persons', () => {
  it('a job behind sixty of somebody else is among the first to end, and those sixty end without more ado', async () => {
    const [hoarder, stranger] = [await world.api.signUp('hoarder'), await world.api.signUp('stranger')];
    // One person, two accounts.
    const account = await makeAccount(hoarder.client, 'second');
    const workbooks = [
      await makeWorkbook(hoarder.client, 'first'),
      await makeWorkbook(hoarder.client, 'second', await makeWorkspace(hoarder.client, 'second', account)),
    ];
    await Promise.all(Array.from({ length: 60 }, (_, i) => send(workbooks[i % 2] as string, hoarder.session)));
    expect(await countJobs(hoarder.userId, 'admitted_at IS NOT NULL')).toBe(perUser);
    await send(await makeWorkbook(stranger.client, 'other'), stranger.session);
    expect(await countJobs(stranger.userId, 'admitted_at IS NOT NULL')).toBe(1);

    await world.startWorker();
    await waitUntilDone(hoarder.userId);
    await waitUntilDone(stranger.userId);
    const { rows } = await world.api.sql.query<{ user_id: string; status: string }>(
      'SELECT user_id, status FROM jobs WHERE user_id = ANY($1) ORDER BY finished_at',
      [[hoarder.userId, stranger.userId]],
    );
    expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: 61 }, () => 'succeeded'));
    expect(rows.findIndex(({ user_id: userId }) => userId === stranger.userId)).toBeLessThan(10);
  });

  it('the sweep starts what waits when nobody else did', async () => {
    await world.stopWorker();
    const person = await world.api.signUp();
    const workbookId = await makeWorkbook(person.client, 'waiting');
    for (let i = 0; i < perUser + 2; i += 1) await send(workbookId, person.session);
    expect(await countJobs(person.userId, 'admitted_at IS NULL')).toBe(2);
    // As if the process that ended these had died then.
    await world.api.sql.query(
      `UPDATE jobs SET status = 'failed', error = 'gone', finished_at = now() WHERE user_id = $1 AND admitted_at IS NOT NULL`,
      [person.userId],
    );
    await world.api.sql.query(`UPDATE jobs SET created_at = now() - interval '1 minute' WHERE user_id = $1`, [person.userId]);
    await sweepJobs(world.api.services, { heartbeat() {} });
    expect(await countJobs(person.userId, 'admitted_at IS NULL')).toBe(0);
    await world.startWorker();
    await waitUntilDone(person.userId);
    expect(await countJobs(person.userId, `status = 'succeeded'`)).toBe(2);
  });

  it('many uploads at once into one workbook are all taken', async () => {
    const person = await world.api.signUp();
    const workbookId = await makeWorkbook(person.client, 'many');
    const bytes = (n: number) => `item,amount\n${`paper ${n},12\n`.repeat(20_000)}`;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        world.send(`many${n}.csv`, bytes(n), { workbookId, token: person.session, fields: { async: 'true', structuring: 'skip' } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 202));
    await waitUntilDone(person.userId);
    expect(await countJobs(person.userId, `status = 'succeeded'`)).toBe(60);
  });
});
