import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantMonth } from '../../activities/credits/grantMonth.ts';
import { purchaseCredits } from '../../activities/credits/purchaseCredits.ts';
import { releaseCredits } from '../../activities/credits/releaseCredits.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { settleCredits } from '../../activities/credits/settleCredits.ts';
import { expireThings } from '../../activities/maintenance/expireThings.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { makeId, type Services } from '../../store/services.ts';
import { makeJob } from '../contract/world.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { writeAt } from '../setup/writeAt.ts';
import { ModelAccount } from './model.ts';
import { openAccount } from './openAccount.ts';
import { readCredits } from './readCredits.ts';
import { anyStep, endOf, outcomes, type Step, takeInModel, timeOf } from './steps.ts';

let api: TestApi;
let services: Services;
let owner: Person;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  ({ services } = api);
  owner = await api.signUp();
});
afterAll(() => api.stop());

const write = <T>(change: (tx: Tx) => Promise<T>, at?: Date): Promise<T> => writeAt(services, change, at);
const reserve = (accountId: string, jobId: string, amount: number, at?: Date) =>
  write((tx) => reserveCredits(tx, { accountId, workbookId: null, jobId, amount }), at);
const settle = (accountId: string, jobId: string, at?: Date) => write((tx) => settleCredits(tx, jobId, accountId), at);
const release = (accountId: string, jobId: string, at?: Date) => write((tx) => releaseCredits(tx, jobId, accountId), at);
const buy = (accountId: string, ref: string, amount: number, at?: Date) =>
  write((tx) => purchaseCredits(tx, { accountId, ref, amount }), at);
const grant = (accountId: string, at?: Date) => write((tx) => grantMonth(tx, [accountId]), at);

interface Entry {
  key: string;
  source: string;
  ends: number;
  bucket: string;
  amount: number;
  balance: number;
  seq: number;
}
const listEntries = async (accountId: string): Promise<Entry[]> =>
  (
    await api.sql.query<Entry>(
      'SELECT key, source, ends, bucket, amount, balance, seq FROM credit_entries WHERE account_id = $1 ORDER BY source, ends, bucket, seq',
      [accountId],
    )
  ).rows;
const listKeys = async (accountId: string): Promise<string[]> =>
  (await api.sql.query<{ key: string }>('SELECT key FROM credit_movements WHERE account_id = $1 ORDER BY at, key', [accountId])).rows.map(
    ({ key }) => key,
  );

/** Sums by a name, of entries that were read in the order of their numbers. */
function sumBy(entries: Entry[], name: (entry: Entry) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const entry of entries) sums.set(name(entry), (sums.get(name(entry)) ?? 0) + entry.amount);
  return sums;
}

function expectSound(entries: Entry[]): void {
  for (const [name, sum] of sumBy(entries, ({ key, source, ends }) => `${key} ${source} ${ends}`)) expect([name, sum]).toEqual([name, 0]);
  const running = new Map<string, number>();
  for (const { source, ends, bucket, amount, balance } of entries) {
    const name = `${source} ${ends} ${bucket}`;
    running.set(name, (running.get(name) ?? 0) + amount);
    expect([name, balance]).toEqual([name, running.get(name)]);
    expect(bucket === 'issued' ? -balance : balance).toBeGreaterThanOrEqual(0);
  }
}

describe('the books of an account', () => {
  const refusable = <T>(outcome: Promise<T>) =>
    outcome.catch((error: Error) => {
      expect(error.message).toMatch(/given back|reserved no credits/);
      return 'refused' as const;
    });

  /** Does a step in both; each says what came of it. */
  async function take(id: string, model: ModelAccount, step: Step, clock: number): Promise<[real: unknown, model: unknown]> {
    const { month, at } = timeOf(step, clock);
    const expected = takeInModel(model, step, month);
    switch (step.do) {
      case 'month':
        return [null, expected];
      case 'grant':
        await grant(id, at);
        return [null, expected];
      case 'buy':
        return [await buy(id, step.ref, step.amount, at), expected];
      case 'reserve':
        return [await refusable(reserve(id, step.job, step.amount, at)), expected];
      case 'settle':
        return [await refusable(settle(id, step.job, at)), expected];
      case 'release':
        return [await release(id, step.job, at), expected];
    }
  }

  it('are sound after any steps, agree with plain counting, and do not change when a step is repeated', async () => {
    const seen = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
        const id = await openAccount(services);
        const model = new ModelAccount();
        let clock = 1;
        for (const taken of steps) {
          if (taken.do === 'month') clock += taken.months;
          const [real, expected] = await take(id, model, taken, clock);
          expect(real).toEqual(expected);
          seen.add(`${taken.do} ${typeof real === 'number' ? 'amount' : real}`);
          const now = endOf(clock);
          expect(await readCredits(services.db.pool, id, now)).toEqual(model.show(clock));
          const before = await listEntries(id);
          await take(id, model, taken, clock);
          expect(await listEntries(id)).toEqual(before);
        }
        const entries = await listEntries(id);
        expectSound(entries);
        const real = sumBy(entries, ({ source, ends, bucket }) =>
          source === 'purchased' ? `bought ${bucket}` : `${(Math.floor(ends / 100) - 2026) * 12 + (ends % 100) - 1} ${bucket}`,
        );
        for (const [lot, buckets] of model.lots)
          for (const [bucket, sum] of Object.entries(buckets))
            expect([lot, bucket, real.get(`${lot} ${bucket}`) ?? 0]).toEqual([lot, bucket, sum]);
      }),
      { numRuns: 40 },
    );
    // The steps are such that all this happens.
    expect([...seen]).toEqual(expect.arrayContaining(outcomes));
  });

  it('turn with the month: what is left expires, what is held can still be spent, and what is given back too late expires', async () => {
    const id = await openAccount(services);
    const [december, january] = [new Date('2026-12-31T23:59:59.999Z'), new Date('2027-01-01T00:00:00.000Z')];
    await reserve(id, 'a', 50, december);
    await reserve(id, 'b', 30, december);
    await buy(id, 'pay', 40, december);
    expect(await reserve(id, 'c', 200, january)).toBe('reserved');
    expect(await reserve(id, 'd', 41, january)).toBe('no_credits');
    expect(await settle(id, 'a', january)).toBe(50);
    expect(await release(id, 'b', january)).toBe('released');
    const sums = sumBy(await listEntries(id), ({ ends, bucket }) => `${ends} ${bucket}`);
    expect(Object.fromEntries([...sums].filter(([, sum]) => sum !== 0))).toEqual({
      '202612 issued': -200,
      '202612 spent': 50,
      '202612 expired': 150,
      '202701 issued': -200,
      '202701 reserved': 200,
      '999912 issued': -40,
      '999912 available': 40,
    });
    expect(await listKeys(id)).toEqual([
      'grant:2026-12',
      'purchase:pay',
      'reserve:a',
      'reserve:b',
      'close:a',
      'close:b',
      'expire:included:2026-12',
      'grant:2027-01',
      'reserve:c',
    ]);
    expect(await readCredits(services.db.pool, id, january)).toEqual({ included: 200, purchased: 40, used: 200, remaining: 40 });
  });

  it('count what was bought and spent to the month it was spent in', async () => {
    const id = await openAccount(services);
    const at = (text: string) => new Date(`${text}T12:00:00Z`);
    await buy(id, 'pay', 500, at('2027-03-01'));
    await reserve(id, 'a', 300, at('2027-03-02'));
    await settle(id, 'a', at('2027-03-02'));
    expect(await readCredits(services.db.pool, id, at('2027-03-03'))).toEqual({ included: 200, purchased: 500, used: 300, remaining: 400 });
    expect(await readCredits(services.db.pool, id, at('2027-04-01'))).toEqual({ included: 200, purchased: 400, used: 0, remaining: 600 });
    await reserve(id, 'b', 250, at('2027-04-02'));
    await settle(id, 'b', at('2027-04-02'));
    expect(await readCredits(services.db.pool, id, at('2027-04-03'))).toEqual({ included: 200, purchased: 400, used: 250, remaining: 350 });
  });

  it('take no amount that is none', async () => {
    const id = await openAccount(services);
    for (const amount of [0, -1, 0.5, Number.NaN]) {
      await expect(reserve(id, 'a', amount)).rejects.toThrow(RangeError);
      await expect(buy(id, 'a', amount)).rejects.toThrow(RangeError);
    }
    await expect(reserve(makeId('acc'), 'a', 1)).rejects.toThrow('no account');
    expect(await listEntries(id)).toEqual([]);
  });
});

describe('credits at the same time', () => {
  const many = <T>(n: number, call: (i: number) => Promise<T>) => Promise.all(Array.from({ length: n }, (_, i) => call(i)));

  it.each([
    [190, 1, 10],
    [0, 30, 6],
    [200, 1, 0],
  ])('with %i of 200 taken, 20 jobs ask for %i each: %i get it', async (taken, amount, lucky) => {
    const id = await openAccount(services);
    if (taken > 0) await reserve(id, 'first', taken);
    const outcomes = await many(20, (i) => reserve(id, `job_${i}`, amount));
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(lucky);
    expect(outcomes.filter((outcome) => outcome === 'no_credits')).toHaveLength(20 - lucky);
    expect((await readCredits(services.db.pool, id)).remaining).toBe(200 - taken - lucky * amount);
    expectSound(await listEntries(id));
  });

  it('one job asks 20 times and gets it once', async () => {
    const id = await openAccount(services);
    expect(new Set(await many(20, () => reserve(id, 'job', 7)))).toEqual(new Set(['reserved']));
    expect(await readCredits(services.db.pool, id)).toMatchObject({ used: 7, remaining: 193 });
  });

  it('a job is settled and given back: one of the two happens', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await openAccount(services);
      await reserve(id, 'job', 9);
      const outcomes = await Promise.allSettled([settle(id, 'job'), release(id, 'job'), settle(id, 'job'), release(id, 'job')]);
      const settled = outcomes[0]?.status === 'fulfilled';
      expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'refused'))).toEqual(
        settled ? [9, 'settled', 9, 'settled'] : ['refused', 'released', 'refused', 'released'],
      );
      expect((await readCredits(services.db.pool, id)).remaining).toBe(settled ? 191 : 200);
      const { rows } = await api.sql.query('SELECT kind, amount FROM usage_entries WHERE account_id = $1', [id]);
      expect(rows).toEqual(settled ? [{ kind: 'credits', amount: 9 }] : []);
    }
  });
});

describe('the database itself', () => {
  const entry = (id: string, key: string, bucket: string, amount: number) =>
    `INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, at) VALUES ('${id}', '${key}', 'included', 202611, '${bucket}', ${amount}, now());`;
  const movement = (id: string, key: string) =>
    `INSERT INTO credit_movements (account_id, key, kind, at) VALUES ('${id}', '${key}', 'grant', now());`;

  it.each([
    ['an empty movement', (id: string) => movement(id, 'k'), /does not sum to zero/],
    ['one side only', (id: string) => movement(id, 'k') + entry(id, 'k', 'available', 5), /does not sum to zero/],
    [
      'two sides that differ',
      (id: string) => movement(id, 'k') + entry(id, 'k', 'issued', -5) + entry(id, 'k', 'available', 6),
      /does not sum to zero/,
    ],
    [
      'a movement added to later',
      (id: string) =>
        `${movement(id, 'k')}${entry(id, 'k', 'issued', -5)}${entry(id, 'k', 'available', 5)} COMMIT; BEGIN; ${entry(id, 'k', 'spent', 5)}`,
      /does not sum to zero/,
    ],
    [
      'more than there is',
      (id: string) =>
        `${movement(id, 'k')}${entry(id, 'k', 'issued', -5)}${entry(id, 'k', 'available', 5)}` +
        `${movement(id, 'l')}${entry(id, 'l', 'spent', 6)}${entry(id, 'l', 'available', -6)}`,
      /credit_entries_not_overdrawn/,
    ],
    ['the same key twice', (id: string) => movement(id, 'k') + movement(id, 'k'), /credit_movements/],
    ['an entry without a movement', (id: string) => entry(id, 'k', 'available', 5), /credit_entries_movement/],
    [
      'a balance of the writer’s own',
      (id: string) =>
        `${movement(id, 'k')} INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, seq, balance, at) VALUES
         ('${id}', 'k', 'included', 202611, 'available', -5, 1, 1000, now()), ('${id}', 'k', 'included', 202611, 'spent', 5, 1, 5, now());`,
      /credit_entries_not_overdrawn/,
    ],
  ])('refuses %s', async (_, statements, message) => {
    const id = await openAccount(services);
    const client = await api.sql.connect();
    try {
      await expect(client.query(`BEGIN; ${statements(id)} COMMIT`)).rejects.toThrow(message);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it.each(['UPDATE credit_entries SET amount = 1', 'DELETE FROM credit_movements', 'TRUNCATE credit_entries'])(
    'refuses %s',
    async (statement) => {
      await expect(api.sql.query(statement)).rejects.toThrow('only added to');
    },
  );

  it('stops a second writer that has seen the same balance, should the lock be forgotten', async () => {
    const id = await openAccount(services);
    await grant(id);
    const month = Number(new Date().toISOString().slice(0, 7).replace('-', ''));
    const spend = `INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, at)
                   VALUES ($1, $2, 'included', ${month}, 'available', -150, now()), ($1, $2, 'included', ${month}, 'spent', 150, now())`;
    const [one, two] = [await api.sql.connect(), await api.sql.connect()];
    try {
      for (const [client, key] of [
        [one, 'x'],
        [two, 'y'],
      ] as const) {
        await client.query('BEGIN');
        await client.query("INSERT INTO credit_movements (account_id, key, kind, at) VALUES ($1, $2, 'settle', now())", [id, key]);
      }
      await one.query(spend, [id, 'x']);
      const second = expect(two.query(spend, [id, 'y'])).rejects.toThrow('credit_entries_balance');
      // It has read the balance and waits to hear whether its number is taken.
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await expect.poll(async () => (await api.sql.query(waiting)).rowCount).toBe(1);
      await one.query('COMMIT');
      await second;
    } finally {
      await one.query('ROLLBACK');
      await two.query('ROLLBACK');
      one.release();
      two.release();
    }
    expect((await readCredits(services.db.pool, id)).remaining).toBe(50);
  });
});

describe('a reservation that nobody ended', () => {
  it('is given back an hour later when its job is over or gone, and only then', async () => {
    // What other tests have left.
    await expireThings(services, () => {});
    const account = await openAccount(services);
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const seed = { accountId: account, userId: owner.userId, workbookId: null };
    const running = await makeJob(api, seed);
    const failed = await makeJob(api, { ...seed, status: 'failed', finishedAt: new Date() });
    const paid = await makeJob(api, { ...seed, status: 'succeeded', finishedAt: new Date() });
    for (const jobId of [running, failed, paid, 'gone']) await reserve(account, jobId, 10, hoursAgo(2));
    await reserve(account, 'young', 10);
    await settle(account, paid);

    expect(await expireThings(services, () => {})).toMatchObject({ reservations: 2 });
    const { rows } = await api.sql.query('SELECT ref, kind FROM credit_movements WHERE account_id = $1 AND key LIKE $2', [
      account,
      'close:%',
    ]);
    expect(new Map(rows.map(({ ref, kind }) => [ref, kind]))).toEqual(
      new Map([
        [failed, 'release'],
        ['gone', 'release'],
        [paid, 'settle'],
      ]),
    );
    expectSound(await listEntries(account));
    expect(await expireThings(services, () => {})).toMatchObject({ reservations: 0 });
  });
});

describe('getMe: credits', () => {
  it('shows the credits, before and after there are any movements, and reading writes none', async () => {
    const person = await api.signUp();
    const read = async () => ok(await person.client.GET('/api/v1/me'));
    const { account_id: id, credits } = await read();
    expect(credits).toEqual({ included: 200, purchased: 0, used: 0, remaining: 200 });
    expect(await listKeys(id)).toEqual([]);

    await buy(id, 'pay', 100);
    expect((await read()).credits).toEqual({ included: 200, purchased: 100, used: 0, remaining: 300 });
    const workbookId = await makeWorkbook(person.client, 'paid');
    await write((tx) => reserveCredits(tx, { accountId: id, workbookId, jobId: 'a', amount: 230 }));
    expect((await read()).credits).toEqual({ included: 200, purchased: 100, used: 230, remaining: 70 });
    await settle(id, 'a');
    await reserve(id, 'b', 70);
    expect((await read()).credits).toEqual({ included: 200, purchased: 100, used: 300, remaining: 0 });
    await release(id, 'b');
    expect((await read()).credits).toEqual({ included: 200, purchased: 100, used: 230, remaining: 70 });
    // Of the workbook that the work was for.
    const { rows } = await api.sql.query("SELECT account_id, scope, amount FROM usage_entries WHERE kind = 'credits' AND account_id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ account_id: id, scope: workbookId, amount: 230 }]);
  });

  it('shows what the plan includes', async () => {
    const person = await api.signUp();
    const { account_id: id } = ok(await person.client.GET('/api/v1/me'));
    await api.sql.query("UPDATE accounts SET plan = 'solo' WHERE id = $1", [id]);
    const credits = { included: 3000, purchased: 0, used: 0, remaining: 3000 };
    expect(ok(await person.client.GET('/api/v1/me')).credits).toEqual(credits);
    await grant(id);
    expect(ok(await person.client.GET('/api/v1/me')).credits).toEqual(credits);
  });
});
