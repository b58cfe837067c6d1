import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker } from '../../activities/worker.ts';
import { addDays, dayOf } from '../../core/usage/days.ts';
import type { Service } from '../../store/lifecycle.ts';
import { makeId, type Services } from '../../store/services.ts';
import { ok, type Person, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, mintKey, mintToken } from '../setup/credentials.ts';
import { waitForSchedule } from '../setup/schedules.ts';
import { makeTable } from '../setup/tables.ts';
import { keepHistory, replayHistory } from './replay.ts';

let api: TestApi;
let services: Services;
let owner: Person;
let worker: Service;
let accountId: string;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  ({ services } = api);
  owner = await api.signUp();
  accountId = ok(await owner.client.GET('/api/v1/me')).account_id;
  worker = await startWorker(api.config);
});
afterAll(async () => {
  await worker.stop();
  await api.stop();
});

const today = dayOf(new Date());
const ago = (days: number) => addDays(today, -days);

async function run(workflow: 'rollUpUsage' | 'sampleUsage') {
  const { client } = await services.temporal();
  const handle = await client.workflow.start(workflow, { workflowId: makeId('req'), taskQueue: api.config.temporal.taskQueue });
  await handle.result();
  await keepHistory(workflow, handle);
}

const readSeries = async (days = 30) =>
  ok(await owner.client.GET('/api/control/account/usage/series', { params: { query: { days } } })).series;
const pastDays = async () => (await readSeries()).filter(({ date }) => date < today);

const countRequests = (time: string, requests: number, credential = 'one') =>
  api.sql.query("INSERT INTO request_counts VALUES ($1, $2, $3, 'access_token', $4, $5)", [
    accountId,
    owner.userId,
    credential,
    time,
    requests,
  ]);
const use = (time: string, kind: 'op' | 'credits', amount: number) =>
  api.sql.query("INSERT INTO usage_entries (account_id, scope, kind, amount, at) VALUES ($1, 'wb', $2, $3, $4)", [
    accountId,
    kind,
    amount,
    time,
  ]);
const countRows = async () =>
  (
    await api.sql.query<{ n: number }>(
      `SELECT ((SELECT count(*) FROM request_counts WHERE at < $1::timestamp AT TIME ZONE 'UTC')
             + (SELECT count(*) FROM usage_entries WHERE at < $1::timestamp AT TIME ZONE 'UTC'))::int AS n`,
      [today],
    )
  ).rows[0]?.n;

describe('the usage of an account', () => {
  it('is summed by UTC day, and days without activity are left out', async () => {
    await countRequests(`${ago(3)}T00:00:00Z`, 1);
    await countRequests(`${ago(3)}T23:59:59.999Z`, 2);
    await countRequests(`${ago(3)}T12:00:00Z`, 4, 'two');
    await use(`${ago(3)}T10:00:00Z`, 'op', 1);
    await use(`${ago(3)}T11:00:00Z`, 'op', 1);
    await use(`${ago(1)}T11:00:00Z`, 'credits', 7);
    // Of a day on which nothing else happened.
    await api.sql.query('INSERT INTO usage_samples VALUES ($1, $2, 5, 5, now()), ($1, $3, 100, 2, now())', [accountId, ago(2), ago(1)]);
    expect(await pastDays()).toEqual([
      { date: ago(3), requests: 7, ops: 2, credits: 0, storage_bytes: null, tables: null },
      { date: ago(1), requests: 0, ops: 0, credits: 7, storage_bytes: 100, tables: 2 },
    ]);
    expect((await readSeries(1)).map(({ date }) => date)).toEqual([today]);
  });

  it('stays the same when it is rolled up, once or twice, and counts what comes late', async () => {
    const [series, rows] = [await pastDays(), await countRows()];
    await run('rollUpUsage');
    expect(rows).toBe(6);
    expect(await countRows()).toBe(4);
    expect(await pastDays()).toEqual(series);
    await run('rollUpUsage');
    expect([await countRows(), await pastDays()]).toEqual([4, series]);
    await countRequests(`${ago(3)}T15:00:00Z`, 10);
    expect((await pastDays())[0]?.requests).toBe(17);
    const own = ok(await owner.client.GET('/api/v1/me/usage')).tokens.find(({ token_id }) => token_id === 'one');
    expect(own?.daily).toEqual([{ date: ago(3), requests: 13 }]);
  });

  it('makes up for days on which nobody rolled up', async () => {
    await api.sql.query('DELETE FROM usage_rollups WHERE day > $1', [ago(4)]);
    await countRequests(`${ago(2)}T01:00:00Z`, 1);
    await countRequests(`${ago(2)}T02:00:00Z`, 1);
    const series = await pastDays();
    await run('rollUpUsage');
    expect(await pastDays()).toEqual(series);
    const { rows } = await api.sql.query('SELECT requests FROM request_counts WHERE at = $1', [`${ago(2)}T00:00:00Z`]);
    expect(rows).toEqual([{ requests: 2 }]);
  });

  it('has the last sample of the day of what is stored', async () => {
    const id = await makeWorkbook(owner.client, 'Sampled');
    const stock = async () => {
      const [day] = await readSeries(1);
      return day && [day.tables, day.storage_bytes];
    };
    const sizes: number[] = [];
    for (const [n, name] of ['one', 'two'].entries()) {
      await makeTable(owner.client, id, name, [{ name: 'a' }], [{ a: 'x'.repeat(1000) }]);
      await run('sampleUsage');
      const [tables, bytes] = (await stock()) ?? [];
      expect(tables).toBe(n + 1);
      sizes.push(Number(bytes));
    }
    expect(sizes[1]).toBeGreaterThan(sizes[0] as number);
    expect(sizes[0]).toBeGreaterThan(0);
  });

  it('is shown to the owner and to keys of the account, and to nobody else', async () => {
    const stranger = await api.signUp();
    const path = '/api/control/account/usage/series' as const;
    const ask = { params: { query: { account_id: accountId } } };
    refused(await stranger.client.GET(path, ask), 404, 'not-found');
    const key = await mintKey(owner.client, { scopes: ['account:read'] });
    expect(ok(await api.as(key.text).GET(path, ask)).account_id).toBe(accountId);
    const token = await mintToken(owner.client);
    refused(await api.as(token.text).GET(path, ask), 401, 'unauthenticated');
  });
});

describe('by the clock', () => {
  it('samples are taken every hour, days are rolled up soon after midnight', async () => {
    expect((await waitForSchedule(services, 'sample-usage')).spec.intervals).toMatchObject([{ every: 3_600_000 }]);
    expect((await waitForSchedule(services, 'roll-up-usage')).spec.intervals).toMatchObject([{ every: 86_400_000, offset: 1_800_000 }]);
  });

  it('runs that were recorded are replayed by the workflows as they are now', async () => {
    for (const name of ['sampleUsage', 'rollUpUsage']) await replayHistory(name);
  });
});
