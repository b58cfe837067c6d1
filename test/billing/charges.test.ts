import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCancellation, applyCard, applyPack, applySubscription } from '../../activities/billing/applyPayment.ts';
import { configureAutoTopup } from '../../activities/billing/configureAutoTopup.ts';
import { orderTopups } from '../../activities/billing/orderTopups.ts';
import { payCharges } from '../../activities/billing/payCharges.ts';
import { readBilling } from '../../activities/billing/readBilling.ts';
import { settlePeriods } from '../../activities/billing/settlePeriods.ts';
import { purchaseCredits } from '../../activities/credits/purchaseCredits.ts';
import { releaseCredits } from '../../activities/credits/releaseCredits.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { settleCredits } from '../../activities/credits/settleCredits.ts';
import { autoTopup, overage, packs, priceCredits, subscriptionPrices } from '../../core/credits/priceList.ts';
import { ledgerCustomer } from '../../store/billing/ledger.ts';
import { findAccount } from '../../store/pg/accounts.ts';
import { closeAccount } from '../../store/pg/closedAccounts.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { openAccount } from '../credits/openAccount.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';
import { writeAt } from '../setup/writeAt.ts';
import { openBank } from './bank.ts';

let api: TestApi;
let services: Services;
let bank: ReturnType<typeof openBank>;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  ({ services } = api);
  bank = openBank(services);
});
afterAll(() => api.stop());

const quiet = { heartbeat() {} };
const now = new Date();
const monthsAgo = (months: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15));
const write = <T>(change: (tx: Tx) => Promise<T>, at?: Date): Promise<T> => writeAt(services, change, at);
const card = { brand: 'ledger', last4: '0000', expMonth: 1, expYear: 2040 };
const walletOf = (id: string, kind: 'pays' | 'declined' = 'pays') => ({ customerId: ledgerCustomer(id, kind), card });
const saveCard = (id: string, kind: 'pays' | 'declined' = 'pays') => write((tx) => applyCard(tx, id, walletOf(id, kind)));
const setTopup = (id: string, enabled: boolean) => write((tx) => configureAutoTopup(tx, id, { enabled, amount: null, threshold: null }));

/** On pay-as-you-go, without auto-recharge. */
async function openPayg(kind: 'pays' | 'declined' = 'pays'): Promise<string> {
  const id = await openAccount(services);
  await saveCard(id, kind);
  await setTopup(id, false);
  return id;
}
const reserve = (accountId: string, jobId: string, amount: number, at?: Date) =>
  write((tx) => reserveCredits(tx, { accountId, workbookId: null, jobId, amount }), at);
const settle = (accountId: string, jobId: string, at?: Date) => write((tx) => settleCredits(tx, jobId, accountId), at);
async function work(accountId: string, jobId: string, amount: number, at?: Date): Promise<void> {
  expect(await reserve(accountId, jobId, amount, at)).toBe('reserved');
  await settle(accountId, jobId, at);
}
async function read(id: string) {
  const account = await findAccount(services.db.orm, id);
  if (!account) throw new Error('no account');
  const { credits, overage: owed, autoTopup: topup, interval, period } = await readBilling(services, account);
  return { plan: account.plan, status: account.planStatus, ...credits, owed, topup: topup.enabled, interval, period };
}
const listPayments = async (id: string) =>
  (await api.sql.query('SELECT kind, amount, credits FROM payments WHERE account_id = $1 ORDER BY at, ref', [id])).rows;
const listAudit = async (id: string) =>
  (await api.sql.query<{ action: string }>('SELECT action FROM audit_entries WHERE scope = $1 ORDER BY seq', [id])).rows.map(
    ({ action }) => action,
  );
const settleAll = () => settlePeriods(bank.services, '', quiet);
const pay = (id: string) => payCharges(bank.services, id, quiet);
/** As if what was declined had been so on the day before. */
const nextDay = (id: string) =>
  api.sql.query("UPDATE charges SET declined_at = declined_at - interval '1 day', cause = cause || ' before' WHERE account_id = $1", [id]);
const included = 200;

describe('work beyond the credits', () => {
  it('is done on pay-as-you-go up to the ceiling, shown as owed, and covered by a pack', async () => {
    const id = await openPayg();
    await work(id, 'a', included + 300);
    expect(await read(id)).toMatchObject({ included, purchased: 0, used: 500, remaining: -300, owed: { arrears: 0, current: 300 } });
    expect(await reserve(id, 'b', overage.mostCredits - 299)).toBe('no_credits');
    expect(await reserve(id, 'b', overage.mostCredits - 300)).toBe('reserved');
    expect(await reserve(id, 'c', 1)).toBe('no_credits');
    // A pack raises the ceiling.
    await write((tx) => purchaseCredits(tx, { accountId: id, ref: `pack ${id}`, amount: packs.small.credits }));
    expect(await reserve(id, 'c', 1)).toBe('reserved');
    await write((tx) => releaseCredits(tx, 'b', id));
    await write((tx) => releaseCredits(tx, 'c', id));
    expect(await read(id)).toMatchObject({ purchased: 1000, used: 500, remaining: 700, owed: { arrears: 0, current: 0 } });
  });

  it('is refused on every other plan', async () => {
    const free = await openAccount(services);
    expect(await reserve(free, 'a', included + 1)).toBe('no_credits');
    const solo = await openAccount(services);
    await write((tx) => applySubscription(tx, solo, walletOf(solo), { plan: 'solo', interval: 'monthly', ref: `sub ${solo}` }));
    expect(await reserve(solo, 'a', 3001)).toBe('no_credits');
  });

  it('asked for by many at once stays under the ceiling', async () => {
    const id = await openPayg();
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, i) => reserve(id, `job_${i}`, 1000)));
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(5);
  });
});

describe('the end of a period', () => {
  it('charges overage from the floor on, once, and carries less as arrears', async () => {
    const id = await openPayg();
    await work(id, 'a', included + 300, monthsAgo(2));
    expect(await read(id)).toMatchObject({ remaining: included, owed: { arrears: 300, current: 0 } });
    await settleAll();
    expect(await read(id)).toMatchObject({ owed: { arrears: 300, current: 0 } });
    expect([await pay(id), await listPayments(id)]).toEqual([0, []]);
    await work(id, 'b', included + 250, monthsAgo(1));
    await settleAll();
    await settleAll();
    expect([await pay(id), await pay(id)]).toEqual([1, 0]);
    await settleAll();
    expect(await pay(id)).toBe(0);
    expect(await listPayments(id)).toEqual([{ kind: 'settlement', amount: priceCredits(550, overage), credits: 550 }]);
    expect(await read(id)).toMatchObject({ status: 'none', owed: { arrears: 0, current: 0 } });
    expect(await listAudit(id)).toEqual(
      expect.arrayContaining(['billing.overage_billed', 'billing.overage_billed', 'billing.overage_settled']),
    );
  });

  it('leaves the period that runs alone, and finds a job that ended late', async () => {
    const id = await openPayg();
    await work(id, 'a', included + 600);
    await settleAll();
    expect([await pay(id), (await read(id)).owed]).toEqual([0, { arrears: 0, current: 600 }]);
    const late = await openPayg();
    await reserve(late, 'b', included + 700, monthsAgo(1));
    await settleAll();
    await settle(late, 'b');
    expect((await read(late)).owed).toEqual({ arrears: 700, current: 0 });
    await settleAll();
    expect([await pay(late), await listPayments(late)]).toEqual([1, [{ kind: 'settlement', amount: 840, credits: 700 }]]);
  });

  it('comes with a change of plan', async () => {
    const id = await openPayg();
    await work(id, 'a', included + 600);
    await write((tx) => applySubscription(tx, id, walletOf(id), { plan: 'solo', interval: 'annual', ref: `sub ${id}` }));
    await settleAll();
    await pay(id);
    expect(await listPayments(id)).toEqual([
      { kind: 'subscription', amount: subscriptionPrices.solo.annual, credits: 0 },
      { kind: 'settlement', amount: priceCredits(600, overage), credits: 600 },
    ]);
    expect(await read(id)).toMatchObject({ plan: 'solo', status: 'active', remaining: 2800, owed: { arrears: 0, current: 0 } });
  });

  it('with a card that is declined makes the account past due, refuses more, and is tried on later days and with another card', async () => {
    const id = await openPayg('declined');
    await work(id, 'a', included + 600, monthsAgo(1));
    await settleAll();
    expect([await pay(id), await pay(id)]).toEqual([1, 0]);
    expect(await read(id)).toMatchObject({ plan: 'payg', status: 'past_due', owed: { arrears: 600 } });
    expect([await reserve(id, 'b', included + 1), await reserve(id, 'b', included)]).toEqual(['no_credits', 'reserved']);
    await nextDay(id);
    await settleAll();
    expect([await pay(id), await pay(id)]).toEqual([1, 0]);
    await saveCard(id);
    expect([await pay(id), await pay(id)]).toEqual([1, 0]);
    expect(await listPayments(id)).toEqual([{ kind: 'settlement', amount: 720, credits: 600 }]);
    expect(await read(id)).toMatchObject({ status: 'none', owed: { arrears: 0, current: 0 } });
    expect(await reserve(id, 'c', 1)).toBe('reserved');
    expect(new Set(bank.asked.filter(({ accountId }) => accountId === id).map(({ key }) => key)).size).toBe(3);
    expect((await listAudit(id)).filter((action) => action === 'billing.payment_declined')).toHaveLength(2);
  });

  it('does not charge twice when it is cut after the charge', async () => {
    const id = await openPayg();
    await work(id, 'a', included + 600, monthsAgo(1));
    await settleAll();
    bank.mood = 'cut';
    await expect(pay(id)).rejects.toThrow('cut');
    await expect(pay(id)).rejects.toThrow('cut');
    bank.mood = 'pays';
    await settleAll();
    expect(await pay(id)).toBe(1);
    expect(await listPayments(id)).toEqual([{ kind: 'settlement', amount: 720, credits: 600 }]);
    expect(bank.asked.filter(({ accountId }) => accountId === id).map(({ key }) => bank.taken.get(key))).toEqual([720, 720, 720]);
    expect(new Set(bank.asked.filter(({ accountId }) => accountId === id).map(({ key }) => key)).size).toBe(1);
  });
});

describe('auto-recharge', () => {
  const recharged = { kind: 'auto_topup', amount: priceCredits(autoTopup.amount, autoTopup), credits: autoTopup.amount };

  it('buys once when work leaves too little, whatever is asked at the same time', async () => {
    const id = await openAccount(services);
    await saveCard(id);
    await Promise.all(Array.from({ length: 6 }, (_, i) => reserve(id, `job_${i}`, 1)));
    expect(await reserve(id, 'job_0', 1)).toBe('reserved');
    await Promise.all([pay(id), pay(id), pay(id)]);
    expect(await listPayments(id)).toEqual([recharged]);
    expect(await read(id)).toMatchObject({ purchased: 5000, remaining: 5194, topup: true });
    expect(await pay(id)).toBe(0);
    expect(await reserve(id, 'one more', 4500)).toBe('reserved');
    expect([await pay(id), await listPayments(id)]).toEqual([1, [recharged, recharged]]);
  });

  it('does not stop packs, cards and other work at the same time', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => openAccount(services)));
    await Promise.all(ids.map((id) => saveCard(id)));
    const round = (id: string, n: number) => [
      reserve(id, `job ${n}`, 1),
      write((tx) => applyPack(tx, id, 'small', `${id} ${n}`)),
      saveCard(id),
      pay(id),
    ];
    for (let n = 0; n < 5; n += 1) await Promise.all(ids.flatMap((id) => round(id, n)));
    for (const id of ids) {
      await pay(id);
      const payments = await listPayments(id);
      expect(payments.filter(({ kind }) => kind === 'topup')).toHaveLength(5);
      expect(payments.filter(({ kind }) => kind === 'auto_topup').length).toBeLessThanOrEqual(1);
    }
  });

  it('neither charges twice nor loses the credits when it is cut after the charge', async () => {
    const id = await openAccount(services);
    await saveCard(id);
    await reserve(id, 'a', 1);
    bank.mood = 'cut';
    await expect(pay(id)).rejects.toThrow('cut');
    bank.mood = 'pays';
    // Switching it off does not undo what was charged.
    await setTopup(id, false);
    expect(await pay(id)).toBe(1);
    expect(await listPayments(id)).toEqual([recharged]);
    expect((await read(id)).purchased).toBe(5000);
    expect(new Set(bank.asked.filter(({ accountId }) => accountId === id).map(({ key }) => key)).size).toBe(1);
  });

  it.each(['a card that is declined', 'no card'])('with %s is switched off, and said in the audit log', async (what) => {
    const id = await openAccount(services);
    await saveCard(id, 'declined');
    if (what === 'no card') await api.sql.query('UPDATE billing_profiles SET card = NULL WHERE account_id = $1', [id]);
    await reserve(id, 'a', 1);
    expect([await pay(id), await pay(id)]).toEqual([1, 0]);
    expect([(await read(id)).topup, await listPayments(id)]).toEqual([false, []]);
    expect(await listAudit(id)).toContain('billing.auto_topup_declined');
    await reserve(id, 'b', 1);
    expect(await pay(id)).toBe(0);
  });

  it('is found by the clock where it was missed, and is not due where the month’s credits are enough', async () => {
    const low = await openPayg();
    await setTopup(low, true);
    const rich = await openAccount(services);
    await write(
      (tx) => applySubscription(tx, rich, walletOf(rich), { plan: 'solo', interval: 'monthly', ref: `sub ${rich}` }),
      monthsAgo(1),
    );
    await setTopup(rich, true);
    await orderTopups(bank.services, '', quiet);
    await orderTopups(bank.services, '', quiet);
    expect([await pay(low), await pay(rich)]).toEqual([1, 0]);
    expect(await listPayments(low)).toEqual([recharged]);
    expect((await read(rich)).remaining).toBe(3000);
  });

  it('is not for installations without a limit on credits', async () => {
    const id = await openAccount(services);
    await saveCard(id);
    await write((tx) => reserveCredits(tx, { accountId: id, workbookId: null, jobId: 'a', amount: 500, unlimited: true }));
    await orderTopups({ ...bank.services, config: { ...bank.services.config, credits: 'unlimited' } }, '', quiet);
    expect(await pay(id)).toBe(0);
  });

  it('is neither ordered nor charged for an account that is being deleted', async () => {
    const [due, working] = [await openPayg(), await openPayg()];
    for (const id of [due, working]) await setTopup(id, true);
    await orderTopups(bank.services, '', quiet);
    await write((tx) => closeAccount(tx, due));
    await api.sql.query('UPDATE accounts SET deleted_at = now() WHERE id = $1', [working]);
    await reserve(working, 'late', 10);
    expect([await pay(due), await pay(working)]).toEqual([0, 0]);
    expect([await listPayments(due), await listPayments(working)]).toEqual([[], []]);
    const { rows } = await api.sql.query('SELECT status FROM charges WHERE account_id = $1', [due]);
    expect(rows).toEqual([{ status: 'dropped' }]);
  });
});

describe('a subscription', () => {
  async function subscribe(months: number, kind: 'pays' | 'declined' = 'pays'): Promise<string> {
    const id = await openAccount(services);
    const paid = { plan: 'solo' as const, interval: 'monthly' as const, ref: `sub ${id}` };
    await write((tx) => applySubscription(tx, id, walletOf(id, kind), paid), monthsAgo(months));
    return id;
  }
  const once = { kind: 'subscription', amount: subscriptionPrices.solo.monthly, credits: 0 };

  it('is renewed for each period that has begun, once', async () => {
    const id = await subscribe(3);
    await settleAll();
    await settleAll();
    await pay(id);
    await settleAll();
    expect(await pay(id)).toBe(0);
    const { plan, status, period } = await read(id);
    expect([plan, status]).toEqual(['solo', 'active']);
    expect(period.end > now && period.start <= now).toBe(true);
    const months = now.getUTCDate() >= 15 ? 3 : 2;
    expect(await listPayments(id)).toEqual(Array.from({ length: months + 1 }, () => once));
  });

  it.each([
    ['free', false],
    ['payg', true],
  ] as const)('that was cancelled ends with its period: back to %s', async (plan, paysByUsage) => {
    const id = await subscribe(1);
    await api.sql.query("UPDATE accounts SET plan_status = 'canceled' WHERE id = $1", [id]);
    await api.sql.query('UPDATE billing_profiles SET pays_by_usage = $2, period_end = $3 WHERE account_id = $1', [
      id,
      paysByUsage,
      new Date(now.getTime() + 60_000),
    ]);
    await settleAll();
    expect(await read(id)).toMatchObject({ plan: 'solo', status: 'canceled' });
    await api.sql.query('UPDATE billing_profiles SET period_end = $2 WHERE account_id = $1', [id, now]);
    await settleAll();
    expect(await read(id)).toMatchObject({ plan, status: 'none', interval: null });
    expect([await pay(id), await listPayments(id)]).toEqual([0, [once]]);
  });

  it('whose renewal is declined is past due, tried on later days, and ends after a while', async () => {
    const id = await subscribe(1, 'declined');
    const ended = (days: number) =>
      api.sql.query(`UPDATE billing_profiles SET period_end = now() - interval '${days} days' WHERE account_id = $1`, [id]);
    await ended(1);
    await settleAll();
    expect([await pay(id), await pay(id)]).toEqual([1, 0]);
    expect(await read(id)).toMatchObject({ plan: 'solo', status: 'past_due' });
    await nextDay(id);
    await settleAll();
    expect(await pay(id)).toBe(1);
    await ended(15);
    await nextDay(id);
    await settleAll();
    expect(await pay(id)).toBe(1);
    expect(await read(id)).toMatchObject({ plan: 'free', status: 'none', interval: null });
    await nextDay(id);
    await settleAll();
    expect([await pay(id), await listPayments(id)]).toEqual([0, [once]]);
  });

  it('that was cancelled after its renewal was charged, but not booked, has what was paid for', async () => {
    const id = await subscribe(1);
    await api.sql.query("UPDATE billing_profiles SET period_end = now() - interval '1 day' WHERE account_id = $1", [id]);
    await settleAll();
    bank.mood = 'cut';
    await expect(pay(id)).rejects.toThrow('cut');
    bank.mood = 'pays';
    await write((tx) => applyCancellation(tx, id));
    await settleAll();
    expect(await pay(id)).toBe(1);
    expect([await listPayments(id), await read(id)]).toMatchObject([[once, once], { plan: 'solo', status: 'canceled' }]);
  });
});
