import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payCharges } from '../../activities/billing/payCharges.ts';
import { packs } from '../../core/credits/priceList.ts';
import { ok, type Person, refused, type TestApi } from '../setup/api.ts';
import { secretKey } from '../setup/stripe.ts';
import { billingPath, deliver, readBilling, readPayments, type StripeApi, startStripeApi } from '../setup/stripeApi.ts';
import type { StripeAccount, StripeObject } from '../setup/stripeObjects.ts';
import type { StripeServer } from '../setup/stripeServer.ts';

let started: StripeApi;
let api: TestApi;
let stripe: StripeServer;
let account: StripeAccount;
beforeAll(async () => {
  started = await startStripeApi();
  ({ api, account, stripe } = started);
});
afterAll(() => started.stop());

const buy = (person: Person, key?: string) =>
  person.client.POST(`${billingPath}/topup`, {
    body: { pack: 'small' },
    ...(key === undefined ? {} : { params: { header: { 'Idempotency-Key': key } } }),
  });

describe('a charge without the person', () => {
  it('happens once for each request, whatever is lost on the way', async () => {
    const person = await api.signUp();
    const { customer } = await started.complete(person, 'setup');
    const { account_id: accountId } = await readBilling(person.client);
    for (const [key, matches] of [
      ['create', /POST \/v1\/payment_intents$/],
      ['confirm', /confirm$/],
      ['list', /GET \/v1\/payment_intents$/],
    ] as const) {
      // The first try, and the one that the client makes by itself.
      stripe.faults.push({ matches, fault: 'lost' }, { matches, fault: 'lost' });
      const lost = refused(await buy(person, key), 503, 'unavailable');
      expect(lost.detail).toBe('The payment provider does not answer at the moment.');
      expect(ok(await buy(person, key))).toMatchObject({ status: 'paid', credits_added: 1000 });
      expect(ok(await buy(person, key))).toMatchObject({ status: 'paid' });
    }
    await Promise.all(Array.from({ length: 6 }, () => buy(person, 'at once')));
    expect(ok(await buy(person, 'at once'))).toMatchObject({ status: 'paid' });
    expect(started.succeeded(customer)).toHaveLength(4);
    // Callbacks tell of the same payments.
    await deliver(
      api,
      account.events.filter(({ data }) => data.object.customer === customer),
    );
    expect(await readPayments(api, accountId)).toHaveLength(4);
    expect((await readBilling(person.client)).credits.purchased).toBe(4 * packs.small.credits);
  });

  it('is booked by its callback when nobody asks again', async () => {
    const person = await api.signUp();
    await started.complete(person, 'setup');
    stripe.faults.push(...[1, 2].map(() => ({ matches: /confirm$/, fault: 'lost' as const })));
    refused(await buy(person), 503, 'unavailable');
    expect((await readBilling(person.client)).credits.purchased).toBe(0);
    await deliver(api, account.events.slice(-1));
    expect((await readBilling(person.client)).credits.purchased).toBe(1000);
  });

  it.each(['0002', '3155'])('leads to a page where the card ending in %s says no, and is not made later', async (last4) => {
    const person = await api.signUp();
    const { customer } = await started.complete(person, 'setup', last4);
    const page = ok(await buy(person, 'declined'));
    expect(page).toMatchObject({ status: 'checkout', credits_added: 0 });
    const { account_id: accountId } = await readBilling(person.client);
    const charge = { customerId: customer, accountId, amount: 500, currency: 'jpy', description: 'overage' };
    const said = last4 === '0002' ? 'generic_decline' : 'authentication_required';
    const refusal = { outcome: 'declined', reason: said };
    expect(await api.services.payments.charge({ ...charge, key: `key ${last4}` })).toEqual(refusal);
    for (const { id } of account.list('payment_method', (one) => one.customer === customer)) account.get(id).card.last4 = '4242';
    expect(await api.services.payments.charge({ ...charge, key: `key ${last4}` })).toEqual(refusal);
    expect(await api.services.payments.charge({ ...charge, key: `other ${last4}` })).toMatchObject({ outcome: 'paid' });
    expect(started.succeeded(customer)).toHaveLength(1);
  });
});

describe('a charge that Stripe will never make', () => {
  it('is declined, with what Stripe calls it', async () => {
    const person = await api.signUp();
    const { customer } = await started.complete(person, 'setup');
    const { account_id: accountId } = await readBilling(person.client);
    const charge = { customerId: customer, accountId, amount: 500, currency: 'jpy', description: 'overage' };
    const small = await api.services.payments.charge({ ...charge, amount: 49, key: 'small' });
    expect(small).toEqual({ outcome: 'declined', reason: 'amount_too_small' });
    // A request that was lost is not one that was refused.
    stripe.faults.push(...[1, 2].map(() => ({ matches: /POST \/v1\/payment_intents$/, fault: 500 as const })));
    await expect(api.services.payments.charge({ ...charge, key: 'gone' })).rejects.toMatchObject({ code: 'unavailable' });
    account.objects.delete(customer);
    const gone = { outcome: 'declined', reason: 'resource_missing' };
    expect(await api.services.payments.charge({ ...charge, key: 'gone' })).toEqual(gone);
    // The person gets a page, with a customer of its own.
    expect(ok(await buy(person))).toMatchObject({ status: 'checkout' });
  });

  it('whose card is refused at the last step is not made later', async () => {
    const person = await api.signUp();
    const { customer } = await started.complete(person, 'setup');
    const { account_id: accountId } = await readBilling(person.client);
    const charge = { customerId: customer, accountId, amount: 500, currency: 'jpy', description: 'overage', key: 'last step' };
    stripe.faults.push({ matches: /confirm$/, fault: 400 });
    expect(await api.services.payments.charge(charge)).toMatchObject({ outcome: 'declined' });
    expect(await api.services.payments.charge(charge)).toMatchObject({ outcome: 'declined' });
    expect(started.succeeded(customer)).toEqual([]);
  });
});

describe('overage that the card did not pay', () => {
  it('stays due whatever else is told, and is asked for again of another card', async () => {
    const person = await api.signUp();
    const { customer } = await started.complete(person, 'setup', '0002');
    const { account_id: accountId } = await readBilling(person.client);
    await api.sql.query("UPDATE accounts SET plan_status = 'past_due' WHERE id = $1", [accountId]);
    await api.sql.query(
      `INSERT INTO charges (id, account_id, kind, cause, credits, amount, currency, declines, declined_at, created_at)
       VALUES ($1, $2, 'settlement', 'settlement:test', 600, 660, 'jpy', 1, now(), now())`,
      [`chg_${accountId.slice(4)}`, accountId],
    );
    const isDeclined = async () =>
      (await api.sql.query('SELECT declined_at IS NOT NULL AS declined FROM charges WHERE account_id = $1', [accountId])).rows;
    const [card] = account.list('payment_method', (one) => one.customer === customer);
    await started.happen(() => account.chooseCard((card as StripeObject).id));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', plan_status: 'past_due' });
    expect(await isDeclined()).toEqual([{ declined: true }]);
    await started.happen(() => account.chooseCard(account.saveCard(customer, '4242').id));
    expect(await isDeclined()).toEqual([{ declined: false }]);
    expect(await payCharges(api.services, accountId, { heartbeat() {} })).toBe(1);
    expect(await readPayments(api, accountId)).toEqual([{ kind: 'settlement', amount: 660, currency: 'jpy', credits: 600 }]);
    expect(started.succeeded(customer)).toMatchObject([{ amount: 660, currency: 'jpy', description: '600 credits of overage' }]);
    expect(await readBilling(person.client)).toMatchObject({ plan_status: 'none' });
  });
});

describe('Stripe that does not answer', () => {
  it.each([
    ['cut', 'does not answer'],
    [500, 'does not answer'],
    [503, 'does not answer'],
    [429, 'does not answer'],
    [401, 'refuses'],
    [403, 'refuses'],
    [400, 'refuses'],
  ] as const)('(%s) is 503 with what to do, and nothing of what it said', async (fault, detail) => {
    const person = await api.signUp();
    const matches = /sessions$/;
    stripe.faults.push({ matches, fault }, { matches, fault });
    for (const open of [
      () => person.client.POST(`${billingPath}/portal`, { body: {} }),
      () => person.client.POST(`${billingPath}/payg`, { body: {} }),
    ]) {
      stripe.faults.splice(0, stripe.faults.length, { matches, fault }, { matches, fault });
      const answer = await open();
      const problem = refused(answer, 503, 'unavailable');
      expect(problem.detail).toContain(detail);
      expect(problem.suggested_fix).toBeTruthy();
      expect(answer.response.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(JSON.stringify(problem)).not.toContain(secretKey);
    }
    stripe.faults.length = 0;
    expect(ok(await person.client.POST(`${billingPath}/portal`, { body: {} })).portal_url).toBeTruthy();
  });
});
