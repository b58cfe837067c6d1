import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantCredits } from '../../activities/credits/grantCredits.ts';
import { grantMonth } from '../../activities/credits/grantMonth.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { startWorker } from '../../activities/worker.ts';
import type { Service } from '../../store/lifecycle.ts';
import { type Actor, commit, type Tx } from '../../store/pg/commit.ts';
import { makeId, type Services } from '../../store/services.ts';
import { openAccount } from '../credits/openAccount.ts';
import { readCredits } from '../credits/readCredits.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeAccount, mintToken } from '../setup/credentials.ts';
import { waitForSchedule } from '../setup/schedules.ts';
import { keepHistory, replayHistory } from './replay.ts';

let api: TestApi;
let services: Services;
let owner: Person;
let worker: Service;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  ({ services } = api);
  owner = await api.signUp();
  worker = await startWorker(api.config);
});
afterAll(async () => {
  await worker.stop();
  await api.stop();
});

const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };
const write = <T>(change: (tx: Tx) => Promise<T>): Promise<T> => commit(services, actor, change, async (result) => result);
const listKeys = async (accountId: string): Promise<string[]> =>
  (await api.sql.query<{ key: string }>('SELECT key FROM credit_movements WHERE account_id = $1 ORDER BY key', [accountId])).rows.map(
    ({ key }) => key,
  );

const now = new Date();
const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0));
const nameOf = (date: Date) => date.toISOString().slice(0, 7);

async function runWorkflow() {
  const { client } = await services.temporal();
  const handle = await client.workflow.start('grantCredits', {
    workflowId: makeId('req'),
    taskQueue: api.config.temporal.taskQueue,
  });
  return { handle, result: (await handle.result()) as number };
}

describe('grantCredits', () => {
  it('runs every day, soon after midnight', async () => {
    const schedule = await waitForSchedule(services, 'grant-credits');
    expect(schedule.spec.intervals).toMatchObject([{ every: 86_400_000, offset: 300_000 }]);
    expect(schedule.action).toMatchObject({ workflowType: 'grantCredits' });
  });

  it('gives the month to accounts that do nothing, and ends the month before', async () => {
    const [idle, fresh, busy, gone] = [
      await openAccount(services),
      await openAccount(services),
      await openAccount(services),
      await openAccount(services),
    ];
    await write((tx) => grantMonth({ ...tx, at: lastMonth }, [idle, gone]));
    await write((tx) => reserveCredits(tx, { accountId: busy, workbookId: null, jobId: 'a', amount: 5 }));
    await api.sql.query('UPDATE accounts SET deleted_at = now() WHERE id = $1', [gone]);

    const { handle, result } = await runWorkflow();
    // The idle one, the fresh one, and the owner's own.
    expect(result).toBe(3);
    expect(await listKeys(idle)).toEqual([`expire:included:${nameOf(lastMonth)}`, `grant:${nameOf(lastMonth)}`, `grant:${nameOf(now)}`]);
    expect(await listKeys(fresh)).toEqual([`grant:${nameOf(now)}`]);
    expect(await listKeys(busy)).toEqual([`grant:${nameOf(now)}`, 'reserve:a']);
    expect(await listKeys(gone)).toEqual([`grant:${nameOf(lastMonth)}`]);
    expect(await readCredits(services.db.pool, idle)).toEqual({ included: 200, purchased: 0, used: 0, remaining: 200 });
    await keepHistory('grantCredits', handle);
  });

  it('finds nothing to do the second time', async () => {
    const read = () => api.sql.query('SELECT * FROM credit_entries ORDER BY account_id, key, bucket');
    const before = (await read()).rows;
    expect((await runWorkflow()).result).toBe(0);
    expect((await read()).rows).toEqual(before);
  });

  it('gives a person the free credits once, however many accounts they have, and each account what it pays for', async () => {
    const [free, paid] = [await makeAccount(owner.client, 'One more'), await makeAccount(owner.client, 'A paid one')];
    await api.sql.query("UPDATE accounts SET plan = 'solo' WHERE id = $1", [paid]);
    expect((await runWorkflow()).result).toBe(1);
    expect([await listKeys(free), await listKeys(paid)]).toEqual([[], [`grant:${nameOf(now)}`]]);
    const token = await mintToken(owner.client, { account_id: free });
    expect(ok(await api.as(token.text).GET('/api/v1/me')).credits).toEqual({ included: 0, purchased: 0, used: 0, remaining: 0 });
    const reserve = (accountId: string) =>
      write((tx) => reserveCredits(tx, { accountId, workbookId: null, jobId: `for ${accountId}`, amount: 1 }));
    const own = ok(await owner.client.GET('/api/v1/me')).account_id;
    expect([await reserve(free), await reserve(paid), await reserve(own)]).toEqual(['no_credits', 'reserved', 'reserved']);
    expect((await runWorkflow()).result).toBe(0);
  });

  it('goes over the accounts in parts, each of them once, whoever else does the same', async () => {
    const ids = [];
    for (let i = 0; i < 7; i += 1) ids.push(await openAccount(services));
    const quiet = { heartbeat() {} };
    const limits = { accountsAtATime: 2, batches: 1 };
    const walk = async () => {
      const parts: number[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const part: { accounts: number; next: string | null } = await grantCredits(services, after, quiet, limits);
        parts.push(part.accounts);
        after = part.next;
      }
      return parts;
    };
    expect(await walk()).toEqual([2, 2, 2, 1]);
    const more = [];
    for (let i = 0; i < 9; i += 1) more.push(await openAccount(services));
    await Promise.all([walk(), walk(), walk()]);
    for (const id of [...ids, ...more]) expect(await listKeys(id)).toEqual([`grant:${nameOf(now)}`]);
  });
});

describe('grantCredits: the recorded history', () => {
  it('is replayed by the workflow as it is now', () => replayHistory('grantCredits'));
});
