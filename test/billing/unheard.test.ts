import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { applyCancellation, applyCardRemoval, applySubscription } from '../../activities/billing/applyPayment.ts';
import { declineCharge } from '../../activities/billing/bookCharge.ts';
import { subscriptionPrices } from '../../core/credits/priceList.ts';
import { keepCustomer, listDueCharges } from '../../store/pg/charges.ts';
import { type BillingWorld, monthsAgo, openBillingWorld, walletOf } from './world.ts';

/** What becomes of charges while something goes wrong: nothing is paid twice, and nothing else waits for it. */

let world: BillingWorld;
beforeAll(async () => {
  world = await openBillingWorld();
});
afterAll(() => world.api.stop());
afterEach(() => {
  world.bank.mood = 'pays';
  world.bank.isAway = () => false;
});

const included = 200;
const settlement = { kind: 'settlement', amount: 720, credits: 600 };

/** Owes 600 credits of last month, which are due. */
async function openDebtor(kind: 'pays' | 'declined' = 'pays'): Promise<string> {
  const id = await world.openPayg(kind);
  await world.work(id, 'a', included + 600, monthsAgo(1));
  await world.settleAll();
  return id;
}

async function openSubscriber(kind: 'pays' | 'declined'): Promise<string> {
  const id = await world.open();
  const paid = { plan: 'solo' as const, interval: 'monthly' as const, ref: `sub ${id}` };
  await world.write((tx) => applySubscription(tx, id, walletOf(id, kind), paid), monthsAgo(1));
  await world.endPeriod(id, 1);
  await world.settleAll();
  return id;
}
const month = { kind: 'subscription', amount: subscriptionPrices.solo.monthly, credits: 0 };

describe('a charge of which nothing can be learned', () => {
  it('does not keep other charges of the account waiting', async () => {
    const id = await openDebtor();
    await world.setTopup(id, true);
    await world.reserve(id, 'b', 1);
    world.bank.isAway = ({ description }) => description.includes('overage');
    await expect(world.pay(id)).rejects.toThrow('does not answer');
    const recharged = { kind: 'auto_topup', amount: 5500, credits: 5000 };
    expect(await world.listPayments(id)).toEqual([recharged]);
    world.bank.isAway = () => false;
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([1, [recharged, settlement]]);
  });

  it.each(['removed', 'replaced by that of another customer'])(
    'is asked of the customer that was charged when the card is %s',
    async (what) => {
      const id = await openDebtor();
      world.bank.mood = 'cut';
      await expect(world.pay(id)).rejects.toThrow('cut');
      world.bank.mood = 'pays';
      if (what === 'removed') await world.write((tx) => applyCardRemoval(tx, id));
      else await world.api.sql.query("UPDATE billing_profiles SET customer_id = 'ledger_pays_other' WHERE account_id = $1", [id]);
      expect(await world.pay(id)).toBe(1);
      expect(await world.listPayments(id)).toEqual([settlement]);
      const asked = world.bank.asked.filter(({ accountId }) => accountId === id).map(({ key, customerId }) => `${customerId} ${key}`);
      expect([asked.length, new Set(asked).size]).toEqual([2, 1]);
    },
  );

  it('is not booked as one without a card by somebody who read it before it was asked for', async () => {
    const id = await openDebtor();
    const [read] = await listDueCharges(world.services.db.orm, id, new Date());
    if (!read) throw new Error('nothing is due');
    expect(await world.write((tx) => keepCustomer(tx, read, walletOf(id).customerId))).toBe(true);
    expect(await world.write((tx) => keepCustomer(tx, read, 'ledger_pays_other'))).toBe(false);
    await world.write((tx) => declineCharge(tx, read, 'no_card'));
    expect(await world.listCharges(id)).toMatchObject([{ status: 'open', declines: 0, customer_id: walletOf(id).customerId }]);
  });

  it('that was declined may be asked of another customer', async () => {
    const id = await openDebtor('declined');
    expect(await world.pay(id)).toBe(1);
    expect(await world.listCharges(id)).toMatchObject([{ status: 'open', declines: 1, customer_id: null }]);
    await world.saveCard(id);
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([1, [settlement]]);
  });
});

describe('a renewal that was declined', () => {
  it('is given up when the subscription is cancelled, and not charged to the next card', async () => {
    const id = await openSubscriber('declined');
    expect(await world.pay(id)).toBe(1);
    expect(await world.read(id)).toMatchObject({ plan: 'solo', status: 'past_due' });
    await world.write((tx) => applyCancellation(tx, id));
    // Its period was over already.
    expect(await world.read(id)).toMatchObject({ plan: 'free', status: 'none', interval: null });
    await world.saveCard(id);
    await world.settleAll();
    expect([await world.pay(id), await world.listPayments(id)]).toEqual([0, [month]]);
    expect(await world.listCharges(id)).toMatchObject([{ kind: 'subscription', status: 'dropped' }]);
  });

  it('says nothing about the subscription that came after it', async () => {
    const id = await openSubscriber('declined');
    await world.api.sql.query('UPDATE charges SET customer_id = $2 WHERE account_id = $1', [id, walletOf(id, 'declined').customerId]);
    await world.write((tx) => applyCancellation(tx, id));
    expect(await world.listCharges(id)).toMatchObject([{ status: 'open' }]);
    const again = { plan: 'solo' as const, interval: 'monthly' as const, ref: `again ${id}` };
    await world.write((tx) => applySubscription(tx, id, walletOf(id), again));
    expect(await world.pay(id)).toBe(1);
    expect(await world.read(id)).toMatchObject({ plan: 'solo', status: 'active' });
    expect(await world.listCharges(id)).toMatchObject([{ status: 'dropped' }]);
  });
});

describe('an account that cannot be settled', () => {
  it('does not stop those after it, and is told of', async () => {
    const broken = await world.openPayg();
    // More than a charge can hold.
    await world.api.sql.query('UPDATE billing_profiles SET arrears = 2000000000 WHERE account_id = $1', [broken]);
    const sound = await world.openPayg();
    await world.work(sound, 'a', included + 600, monthsAgo(1));
    const { failures } = await world.settleAll();
    expect(failures).toEqual([expect.stringContaining(broken)]);
    expect([await world.pay(sound), await world.listPayments(sound)]).toEqual([1, [settlement]]);
    await world.api.sql.query('UPDATE billing_profiles SET arrears = 0 WHERE account_id = $1', [broken]);
  });
});
