import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyCancellation, applyPack, applySubscription } from '../../activities/billing/applyPayment.ts';
import { orderTopups } from '../../activities/billing/orderTopups.ts';
import { grantCredits } from '../../activities/credits/grantCredits.ts';
import { purchaseCredits } from '../../activities/credits/purchaseCredits.ts';
import { releaseCredits } from '../../activities/credits/releaseCredits.ts';
import { reserveCredits } from '../../activities/credits/reserveCredits.ts';
import { autoTopup, overage, packs, priceCredits, subscriptionPrices } from '../../core/credits/priceList.ts';
import { closeAccount } from '../../store/pg/closedAccounts.ts';
import type { TestApi } from '../setup/api.ts';
import { type BillingWorld, monthsAgo, now, openBillingWorld, quiet, walletOf } from './world.ts';

let world: BillingWorld;
let api: TestApi;
let bank: BillingWorld['bank'];
beforeAll(async () => {
  world = await openBillingWorld();
  ({ api, bank } = world);
});
afterAll(() => api.stop());

const included = 200;

describe('work beyond the credits', () => {
  it('is done on pay-as-you-go up to the ceiling, shown as owed, and covered by a pack', async () => {
    const id = await world.openPayg();
    await world.work(id, 'a', included + 300);
    expect(await world.read(id)).toMatchObject({ included, purchased: 0, used: 500, remaining: -300, owed: { arrears: 0, current: 300 } });
    expect(await world.reserve(id, 'b', overage.mostCredits - 299)).toBe('no_credits');
    expect(await world.reserve(id, 'b', overage.mostCredits - 300)).toBe('reserved');
    expect(await world.reserve(id, 'c', 1)).toBe('no_credits');
    // A pack raises the ceiling.
    await world.write((tx) => purchaseCredits(tx, { accountId: id, ref: `pack ${id}`, amount: packs.small.credits }));
    expect(await world.reserve(id, 'c', 1)).toBe('reserved');
    await world.write((tx) => releaseCredits(tx, 'b', id));
    await world.write((tx) => releaseCredits(tx, 'c', id));
    expect(await world.read(id)).toMatchObject({ purchased: 1000, used: 500, remaining: 700, owed: { arrears: 0, current: 0 } });
  });

  it('is refused on every other plan', async () => {
    const free = await world.open();
    expect(await world.reserve(free, 'a', included + 1)).toBe('no_credits');
    const solo = await world.open();
    await world.write((tx) => applySubscription(tx, solo, walletOf(solo), { plan: 'solo', interval: 'monthly', ref: `sub ${solo}` }));
    expect(await world.reserve(solo, 'a', 3001)).toBe('no_credits');
  });

  it('counts what is owed for earlier months', async () => {
    const id = await world.openPayg();
    await world.work(id, 'a', included + 400, monthsAgo(1));
    await world.settleAll();
    expect(await world.read(id)).toMatchObject({ owed: { arrears: 400, current: 0 } });
    expect(await world.reserve(id, 'b', included + overage.mostCredits - 399)).toBe('no_credits');
    expect(await world.reserve(id, 'b', included + overage.mostCredits - 400)).toBe('reserved');
  });

  it('is paid for by what was bought while it was being done', async () => {
    const id = await world.openPayg();
    await world.setTopup(id, true);
    await world.reserve(id, 'a', included + 300);
    expect(await world.pay(id)).toBe(1);
    await world.settle(id, 'a');
    expect(await world.read(id)).toMatchObject({ purchased: 5000, used: 500, remaining: 4700, owed: { arrears: 0, current: 0 } });
    // Credits that come back pay as well.
    await world.setTopup(id, false);
    await world.reserve(id, 'b', 4700);
    await world.work(id, 'c', 100);
    expect((await world.read(id)).owed).toEqual({ arrears: 0, current: 100 });
    await world.write((tx) => releaseCredits(tx, 'b', id));
    expect(await world.read(id)).toMatchObject({ remaining: 4600, owed: { arrears: 0, current: 0 } });
  });

  it('asked for by many at once stays under the ceiling', async () => {
    const id = await world.openPayg();
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, i) => world.reserve(id, `job_${i}`, 1000)));
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(5);
  });
});

describe('the end of a period', () => {
  it('charges overage from the floor on, once, and carries less as arrears', async () => {
    const id = await world.openPayg();
    await world.work(id, 'a', included + 300, monthsAgo(2));
    expect(await world.read(id)).toMatchObject({ remaining: included, owed: { arrears: 300, current: 0 } });
    await world.settleAll();
    expect(await world.read(id)).toMatchObject({ owed: { arrears: 300, current: 0 } });
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([0, []]);
    await world.work(id, 'b', included + 250, monthsAgo(1));
    await world.settleAll();
    await world.settleAll();
    expect([await world.pay(id), await world.pay(id)]).toEqual([1, 0]);
    await world.settleAll();
    expect(await world.pay(id)).toBe(0);
    expect(await world.listPayments(id)).toEqual([{ kind: 'settlement', amount: priceCredits(550, overage), credits: 550 }]);
    expect(await world.read(id)).toMatchObject({ status: 'none', owed: { arrears: 0, current: 0 } });
    expect(await world.listAudit(id)).toEqual(
      expect.arrayContaining(['billing.overage_billed', 'billing.overage_billed', 'billing.overage_settled']),
    );
  });

  it('leaves the period that runs alone, and finds a job that ended late', async () => {
    const id = await world.openPayg();
    await world.work(id, 'a', included + 600);
    await world.settleAll();
    expect([await world.pay(id), (await world.read(id)).owed]).toEqual([0, { arrears: 0, current: 600 }]);
    const late = await world.openPayg();
    await world.reserve(late, 'b', included + 700, monthsAgo(1));
    await world.settleAll();
    await world.settle(late, 'b');
    expect((await world.read(late)).owed).toEqual({ arrears: 700, current: 0 });
    await world.settleAll();
    expect([await world.pay(late), await world.listPayments(late)]).toEqual([1, [{ kind: 'settlement', amount: 840, credits: 700 }]]);
  });

  it('comes with a change of plan', async () => {
    const id = await world.openPayg();
    await world.work(id, 'a', included + 600);
    await world.write((tx) => applySubscription(tx, id, walletOf(id), { plan: 'solo', interval: 'annual', ref: `sub ${id}` }));
    await world.settleAll();
    await world.pay(id);
    expect(await world.listPayments(id)).toEqual([
      { kind: 'subscription', amount: subscriptionPrices.solo.annual, credits: 0 },
      { kind: 'settlement', amount: priceCredits(600, overage), credits: 600 },
    ]);
    expect(await world.read(id)).toMatchObject({ plan: 'solo', status: 'active', remaining: 2800, owed: { arrears: 0, current: 0 } });
  });

  it('with a card that is declined makes the account past due, refuses more, and is tried on later days and with another card', async () => {
    const id = await world.openPayg('declined');
    await world.work(id, 'a', included + 600, monthsAgo(1));
    await world.settleAll();
    expect([await world.pay(id), await world.pay(id)]).toEqual([1, 0]);
    expect(await world.read(id)).toMatchObject({ plan: 'payg', status: 'past_due', owed: { arrears: 600 } });
    expect([await world.reserve(id, 'b', included + 1), await world.reserve(id, 'b', included)]).toEqual(['no_credits', 'reserved']);
    await world.nextDay(id);
    await world.settleAll();
    expect([await world.pay(id), await world.pay(id)]).toEqual([1, 0]);
    await world.saveCard(id);
    expect([await world.pay(id), await world.pay(id)]).toEqual([1, 0]);
    expect(await world.listPayments(id)).toEqual([{ kind: 'settlement', amount: 720, credits: 600 }]);
    expect(await world.read(id)).toMatchObject({ status: 'none', owed: { arrears: 0, current: 0 } });
    expect(await world.reserve(id, 'c', 1)).toBe('reserved');
    expect(new Set(world.askedKeys(id)).size).toBe(3);
    expect((await world.listAudit(id)).filter((action) => action === 'billing.payment_declined')).toHaveLength(2);
  });

  it('does not charge twice when it is cut after the charge', async () => {
    const id = await world.openPayg();
    await world.work(id, 'a', included + 600, monthsAgo(1));
    await world.settleAll();
    bank.mood = 'cut';
    await expect(world.pay(id)).rejects.toThrow('cut');
    await expect(world.pay(id)).rejects.toThrow('cut');
    bank.mood = 'pays';
    await world.settleAll();
    expect(await world.pay(id)).toBe(1);
    expect(await world.listPayments(id)).toEqual([{ kind: 'settlement', amount: 720, credits: 600 }]);
    expect(world.askedKeys(id).map((key) => bank.taken.get(key))).toEqual([720, 720, 720]);
    expect(new Set(world.askedKeys(id)).size).toBe(1);
  });
});

describe('auto-recharge', () => {
  const recharged = { kind: 'auto_topup', amount: priceCredits(autoTopup.amount, autoTopup), credits: autoTopup.amount };

  it('buys once when work leaves too little, whatever is asked at the same time', async () => {
    const id = await world.open();
    await world.saveCard(id);
    await Promise.all(Array.from({ length: 6 }, (_, i) => world.reserve(id, `job_${i}`, 1)));
    expect(await world.reserve(id, 'job_0', 1)).toBe('reserved');
    await Promise.all([world.pay(id), world.pay(id), world.pay(id)]);
    expect(await world.listPayments(id)).toEqual([recharged]);
    expect(await world.read(id)).toMatchObject({ purchased: 5000, remaining: 5194, topup: true });
    expect(await world.pay(id)).toBe(0);
    expect(await world.reserve(id, 'one more', 4500)).toBe('reserved');
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([1, [recharged, recharged]]);
  });

  it('does not stop packs, cards and other work at the same time', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => world.open()));
    await Promise.all(ids.map((id) => world.saveCard(id)));
    const round = (id: string, n: number) => [
      world.reserve(id, `job ${n}`, 1),
      world.write((tx) => applyPack(tx, id, 'small', `${id} ${n}`)),
      world.saveCard(id),
      world.pay(id),
    ];
    for (let n = 0; n < 5; n += 1) await Promise.all(ids.flatMap((id) => round(id, n)));
    for (const id of ids) {
      await world.pay(id);
      const payments = await world.listPayments(id);
      expect(payments.filter(({ kind }) => kind === 'topup')).toHaveLength(5);
      expect(payments.filter(({ kind }) => kind === 'auto_topup').length).toBeLessThanOrEqual(1);
    }
  });

  it('that was ordered is not made when it is switched off before the card was asked', async () => {
    const id = await world.open();
    await world.saveCard(id);
    await world.reserve(id, 'a', 1);
    expect(await world.listCharges(id)).toMatchObject([{ kind: 'auto_topup', status: 'open' }]);
    await world.setTopup(id, false);
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([0, []]);
    // Switched on again, the next work orders another.
    await world.setTopup(id, true);
    await world.reserve(id, 'b', 1);
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([1, [recharged]]);
  });

  it('neither charges twice nor loses the credits when it is cut after the charge', async () => {
    const id = await world.open();
    await world.saveCard(id);
    await world.reserve(id, 'a', 1);
    bank.mood = 'cut';
    await expect(world.pay(id)).rejects.toThrow('cut');
    bank.mood = 'pays';
    // Switching it off does not undo what was charged.
    await world.setTopup(id, false);
    expect(await world.pay(id)).toBe(1);
    expect(await world.listPayments(id)).toEqual([recharged]);
    expect((await world.read(id)).purchased).toBe(5000);
    expect(new Set(world.askedKeys(id)).size).toBe(1);
  });

  it.each(['a card that is declined', 'no card'])('with %s is switched off, and said in the audit log', async (what) => {
    const id = await world.open();
    await world.saveCard(id, 'declined');
    if (what === 'no card') await api.sql.query('UPDATE billing_profiles SET card = NULL WHERE account_id = $1', [id]);
    await world.reserve(id, 'a', 1);
    expect([await world.pay(id), await world.pay(id)]).toEqual([1, 0]);
    expect([(await world.read(id)).topup, await world.listPayments(id)]).toEqual([false, []]);
    expect(await world.listAudit(id)).toContain('billing.auto_topup_declined');
    await world.reserve(id, 'b', 1);
    expect(await world.pay(id)).toBe(0);
  });

  it('is found by the clock where it was missed, and is not due where the month’s credits are enough', async () => {
    const low = await world.openPayg();
    await world.work(low, 'a', 1);
    await world.setTopup(low, true);
    // It has fewer than the threshold, but has only saved a card.
    const idle = await world.openPayg();
    await world.setTopup(idle, true);
    const rich = await world.open();
    await world.write(
      (tx) => applySubscription(tx, rich, walletOf(rich), { plan: 'solo', interval: 'monthly', ref: `sub ${rich}` }),
      monthsAgo(1),
    );
    await world.setTopup(rich, true);
    await orderTopups(bank.services, '', quiet);
    await orderTopups(bank.services, '', quiet);
    expect([await world.pay(low), await world.pay(rich), await world.pay(idle)]).toEqual([1, 0, 0]);
    expect(await world.listPayments(low)).toEqual([recharged]);
    expect((await world.read(rich)).remaining).toBe(3000);
  });

  it('is not for installations without a limit on credits', async () => {
    const id = await world.open();
    await world.saveCard(id);
    await world.write((tx) => reserveCredits(tx, { accountId: id, workbookId: null, jobId: 'a', amount: 500, unlimited: true }));
    await orderTopups({ ...bank.services, config: { ...bank.services.config, credits: 'unlimited' } }, '', quiet);
    expect(await world.pay(id)).toBe(0);
  });

  it('is neither ordered nor charged for an account that is being deleted', async () => {
    const [due, working] = [await world.openPayg(), await world.openPayg()];
    for (const id of [due, working]) {
      await world.work(id, 'a', 1);
      await world.setTopup(id, true);
    }
    await orderTopups(bank.services, '', quiet);
    await world.write((tx) => closeAccount(tx, due));
    await api.sql.query('UPDATE accounts SET deleted_at = now() WHERE id = $1', [working]);
    await world.reserve(working, 'late', 10);
    expect([await world.pay(due), await world.pay(working)]).toEqual([0, 0]);
    expect([await world.listPayments(due), await world.listPayments(working)]).toEqual([[], []]);
    const { rows } = await api.sql.query('SELECT status FROM charges WHERE account_id = $1', [due]);
    expect(rows).toEqual([{ status: 'dropped' }]);
  });
});

describe('a subscription', () => {
  async function subscribe(months: number, kind: 'pays' | 'declined' = 'pays'): Promise<string> {
    const id = await world.open();
    const paid = { plan: 'solo' as const, interval: 'monthly' as const, ref: `sub ${id}` };
    await world.write((tx) => applySubscription(tx, id, walletOf(id, kind), paid), monthsAgo(months));
    return id;
  }
  const once = { kind: 'subscription', amount: subscriptionPrices.solo.monthly, credits: 0 };

  it('is renewed for each period that has begun, once', async () => {
    const id = await subscribe(3);
    await world.settleAll();
    await world.settleAll();
    await world.pay(id);
    await world.settleAll();
    expect(await world.pay(id)).toBe(0);
    const { plan, status, period } = await world.read(id);
    expect([plan, status]).toEqual(['solo', 'active']);
    expect(period.end > now && period.start <= now).toBe(true);
    const months = now.getUTCDate() >= 15 ? 3 : 2;
    expect(await world.listPayments(id)).toEqual(Array.from({ length: months + 1 }, () => once));
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
    await world.settleAll();
    expect(await world.read(id)).toMatchObject({ plan: 'solo', status: 'canceled' });
    await api.sql.query('UPDATE billing_profiles SET period_end = $2 WHERE account_id = $1', [id, now]);
    await world.settleAll();
    expect(await world.read(id)).toMatchObject({ plan, status: 'none', interval: null });
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([0, [once]]);
  });

  it('whose renewal is declined is past due, tried on later days, and ends after a while', async () => {
    const id = await subscribe(1, 'declined');
    await world.endPeriod(id, 1);
    await world.settleAll();
    expect([await world.pay(id), await world.pay(id)]).toEqual([1, 0]);
    // What is not paid for is not granted, in the new month.
    expect(await world.read(id)).toMatchObject({ plan: 'solo', status: 'past_due', included: 0, remaining: 0 });
    expect(await world.reserve(id, 'unpaid', 1)).toBe('no_credits');
    await grantCredits(world.services, '', quiet);
    expect((await world.read(id)).included).toBe(0);
    await world.nextDay(id);
    await world.settleAll();
    expect(await world.pay(id)).toBe(1);
    await world.endPeriod(id, 15);
    await world.nextDay(id);
    await world.settleAll();
    expect(await world.pay(id)).toBe(1);
    expect(await world.read(id)).toMatchObject({ plan: 'free', status: 'none', interval: null });
    await world.nextDay(id);
    await world.settleAll();
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([0, [once]]);
  });

  it('that was cancelled after its renewal was charged, but not booked, has what was paid for', async () => {
    const id = await subscribe(1);
    await world.endPeriod(id, 1);
    await world.settleAll();
    bank.mood = 'cut';
    await expect(world.pay(id)).rejects.toThrow('cut');
    bank.mood = 'pays';
    await world.write((tx) => applyCancellation(tx, id));
    await world.settleAll();
    expect(await world.pay(id)).toBe(1);
    expect([await world.listPayments(id), await world.read(id)]).toMatchObject([[once, once], { plan: 'solo', status: 'canceled' }]);
  });
});
