import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCancellation, applyCard, applyCardRemoval, applyPack, applySubscription } from '../../activities/billing/applyPayment.ts';
import { configureAutoTopup } from '../../activities/billing/configureAutoTopup.ts';
import { payCharges } from '../../activities/billing/payCharges.ts';
import { settleAccount } from '../../activities/billing/settlePeriods.ts';
import { grantMonth } from '../../activities/credits/grantMonth.ts';
import { releaseCredits } from '../../activities/credits/releaseCredits.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { settleCredits } from '../../activities/credits/settleCredits.ts';
import { overage } from '../../core/credits/priceList.ts';
import { ledgerCustomer } from '../../store/billing/ledger.ts';
import { type Actor, commit, type Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { openAccount } from '../credits/openAccount.ts';
import { readCredits } from '../credits/readCredits.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';
import { type Mood, openBank } from './bank.ts';

/** Whatever happens to an account in whatever order: the books balance, and everything that was due is paid once. */

let api: TestApi;
let services: Services;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  ({ services } = api);
});
afterAll(() => api.stop());

const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };
const card = { brand: 'ledger', last4: '0000', expMonth: 1, expYear: 2040 };
const job = fc.integer({ min: 0, max: 6 }).map((n) => `job_${n}`);
const moods: Mood[] = ['pays', 'pays', 'declines', 'cut'];
const named = <T extends string>(name: T) => fc.constant({ do: name });

const anyStep = fc.oneof(
  { weight: 2, arbitrary: named('month') },
  { weight: 1, arbitrary: named('day') },
  { weight: 1, arbitrary: named('grant') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pack' as const), ref: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('work' as const), job, amount: fc.integer({ min: 1, max: 2500 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const), job }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), job }) },
  { weight: 4, arbitrary: named('close') },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pay' as const), mood: fc.constantFrom(...moods) }) },
  { weight: 2, arbitrary: named('card') },
  { weight: 1, arbitrary: named('remove') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('topup' as const), enabled: fc.boolean() }) },
  { weight: 1, arbitrary: named('subscribe') },
  { weight: 1, arbitrary: named('cancel') },
);
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;

/** What may be refused, and why; anything else that goes wrong ends the test. */
async function refused<T>(outcome: Promise<T>): Promise<T | string> {
  try {
    return await outcome;
  } catch (error) {
    const { message } = error as Error;
    if (!/^the connection was cut$|has reserved no credits to settle|were given back/.test(message)) throw error;
    return message;
  }
}

/** Months and days pass in the clock of the account, not in that of the machine. */
class Life {
  readonly bank = openBank(services);
  private days = 0;
  private subscriptions = 0;
  constructor(readonly id: string) {}

  get at(): Date {
    return new Date(Date.now() + this.days * 86_400_000);
  }

  private write<T>(change: (tx: Tx) => Promise<T>): Promise<T> {
    return commit(
      services,
      actor,
      (tx) => change({ ...tx, at: this.at }),
      async (result) => result,
    );
  }

  async pay(mood: Mood): Promise<unknown> {
    this.bank.mood = mood;
    return refused(payCharges(this.bank.services, this.id, { heartbeat() {} }));
  }

  close(): Promise<void> {
    return this.write((tx) => settleAccount(services, tx, this.id));
  }

  async take(step: Step): Promise<unknown> {
    const { id } = this;
    const wallet = { customerId: ledgerCustomer(id, 'pays'), card };
    switch (step.do) {
      case 'month':
      case 'day':
        this.days += step.do === 'month' ? 31 : 1;
        // What was declined can be tried on another day.
        return api.sql.query('UPDATE charges SET declined_at = NULL WHERE account_id = $1', [id]);
      case 'grant':
        return this.write((tx) => grantMonth(tx, [id]));
      case 'pack':
        return this.write((tx) => applyPack(tx, id, 'small', `${id} ${step.ref}`));
      case 'work':
        return refused(this.write((tx) => reserveCredits(tx, { accountId: id, workbookId: null, jobId: step.job, amount: step.amount })));
      case 'settle':
        return refused(this.write((tx) => settleCredits(tx, step.job, id)));
      case 'release':
        return this.write((tx) => releaseCredits(tx, step.job, id));
      case 'close':
        return this.close();
      case 'pay':
        return this.pay(step.mood);
      case 'card':
        return this.write((tx) => applyCard(tx, id, wallet));
      case 'remove':
        return this.write((tx) => applyCardRemoval(tx, id));
      case 'topup':
        return this.write((tx) => configureAutoTopup(tx, id, { enabled: step.enabled, amount: 700, threshold: 300 }));
      case 'subscribe':
        this.subscriptions += 1;
        return this.write((tx) =>
          applySubscription(tx, id, wallet, { plan: 'solo', interval: 'monthly', ref: `${id} sub ${this.subscriptions}` }),
        );
      case 'cancel':
        return this.write((tx) => applyCancellation(tx, id));
    }
  }
}

const one = async <T extends object>(text: string, id: string): Promise<T> => (await api.sql.query<T>(text, [id])).rows[0] as T;

/** What each source has in each bucket, and what is owed beside the books. */
const readBooks = (id: string) =>
  one<{
    purchased: number;
    over: number;
    owed: number;
    unpaid: number;
    bought: number;
    closed: number;
    covered: number;
    paidFor: number;
    unbalanced: number;
    negative: number;
  }>(
    `SELECT coalesce(-sum(amount) FILTER (WHERE source = 'purchased' AND bucket = 'issued'), 0)::int AS purchased,
       coalesce(-sum(amount) FILTER (WHERE source = 'overage' AND bucket = 'issued'), 0)::int AS over,
       coalesce(sum(amount) FILTER (WHERE source = 'overage' AND bucket IN ('reserved', 'spent')), 0)::int AS owed,
       coalesce(sum(amount) FILTER (WHERE source = 'overage' AND bucket = 'spent'), 0)::int AS unpaid,
       coalesce(sum(amount) FILTER (WHERE source = 'purchased' AND bucket = 'available'), 0)::int AS bought,
       coalesce(sum(amount) FILTER (WHERE source = 'overage' AND bucket = 'settled' AND key LIKE 'bill:%'), 0)::int AS closed,
       coalesce(sum(amount) FILTER (WHERE source = 'overage' AND bucket = 'settled' AND key LIKE 'cover:%'), 0)::int AS covered,
       coalesce(sum(amount) FILTER (WHERE source = 'purchased' AND bucket = 'settled'), 0)::int AS "paidFor",
       (SELECT count(*) FROM (SELECT 1 FROM credit_entries WHERE account_id = $1 GROUP BY key, source, ends HAVING sum(amount) <> 0) x)::int AS unbalanced,
       (SELECT count(*) FROM (SELECT 1 FROM credit_entries WHERE account_id = $1 GROUP BY source, ends, bucket
          HAVING sum(amount) * (CASE bucket WHEN 'issued' THEN -1 ELSE 1 END) < 0) x)::int AS negative
     FROM credit_entries WHERE account_id = $1`,
    id,
  );

const readPaid = (id: string) =>
  one<{ charged: number; settled: number; bought: number; arrears: number; open: number }>(
    `SELECT coalesce((SELECT sum(amount) FROM payments WHERE account_id = $1 AND ref LIKE 'ledger_chg_%'), 0)::int AS charged,
       coalesce((SELECT sum(credits) FROM payments WHERE account_id = $1 AND kind = 'settlement'), 0)::int AS settled,
       coalesce((SELECT sum(credits) FROM payments WHERE account_id = $1 AND kind IN ('topup', 'auto_topup')), 0)::int AS bought,
       coalesce((SELECT arrears FROM billing_profiles WHERE account_id = $1), 0) AS arrears,
       (SELECT count(*) FROM charges WHERE account_id = $1 AND status = 'open')::int AS open`,
    id,
  );

/** One of each that matters, in an order in which all of it happens whatever else is tried. */
const everything: Step[] = [
  { do: 'work', job: 'job_0', amount: 2500 },
  { do: 'settle', job: 'job_0' },
  { do: 'month' },
  { do: 'close' },
  { do: 'pay', mood: 'cut' },
  { do: 'day' },
  { do: 'pay', mood: 'pays' },
  { do: 'work', job: 'job_1', amount: 400 },
  { do: 'settle', job: 'job_1' },
  { do: 'pack', ref: 0 },
];

describe('an account', () => {
  it('has sound books after any sequence, and pays everything that was due once', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 15, maxLength: 45, size: 'max' }), async (steps) => {
        const life = new Life(await openAccount(services));
        const { id, bank } = life;
        await life.take({ do: 'card' });
        for (const step of steps) {
          const before = await readBooks(id);
          const { plan } = await one<{ plan: string }>('SELECT plan FROM accounts WHERE id = $1', id);
          const outcome = await life.take(step);
          const books = await readBooks(id);
          expect([books.unbalanced, books.negative]).toEqual([0, 0]);
          // Nothing runs over outside pay-as-you-go, nor beyond the ceiling.
          if (books.over > before.over) {
            expect(plan).toBe('payg');
            expect(books.owed + (await readPaid(id)).arrears).toBeLessThanOrEqual(overage.mostCredits);
            seen.add('over');
          }
          // Nobody owes for work who has bought credits left.
          expect(Math.min(books.unpaid, books.bought)).toBe(0);
          if (books.covered > before.covered) seen.add('covered');
          if (step.do === 'pay' && outcome === 'the connection was cut') seen.add('cut');
          const { included, purchased, used, remaining } = await readCredits(services.db.pool, id, life.at);
          expect(included + purchased - used).toBe(remaining);
        }
        // In the end every job is over, the period is closed and the card pays.
        for (let n = 0; n <= 6; n += 1) await life.take({ do: 'settle', job: `job_${n}` });
        await life.take({ do: 'month' });
        await life.take({ do: 'card' });
        for (let round = 0; round < 2; round += 1) {
          await life.close();
          await life.take({ do: 'day' });
          await life.pay('pays');
        }
        const [books, paid] = [await readBooks(id), await readPaid(id)];
        expect([books.owed, paid.open]).toEqual([0, 0]);
        // What ran over was covered by bought credits or closed, and what was closed is paid or below the floor.
        expect(books.over).toBe(books.covered + books.closed);
        expect(books.covered).toBe(books.paidFor);
        expect(books.closed).toBe(paid.settled + paid.arrears);
        expect(paid.arrears).toBeLessThan(overage.settlementFloor);
        expect(books.purchased).toBe(paid.bought);
        // What was taken is what was booked, and no charge was taken twice.
        expect([...bank.taken.values()].reduce((sum, amount) => sum + amount, 0)).toBe(paid.charged);
        const ids = [...bank.taken.keys()].map((key) => key.split(':')[0]);
        expect(new Set(ids).size).toBe(ids.length);
        if (paid.settled > 0) seen.add('settled');
      }),
      { numRuns: 15, examples: [[everything]] },
    );
    // The steps are such that all this happens.
    expect([...seen].sort()).toEqual(['covered', 'cut', 'over', 'settled']);
  }, 300_000);
});
