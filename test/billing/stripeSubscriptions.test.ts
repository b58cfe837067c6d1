import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantMonth } from '../../activities/credits/grantMonth.ts';
import { subscriptionPrices } from '../../core/credits/priceList.ts';
import { ok, refused, type TestApi } from '../setup/api.ts';
import { makeAccount } from '../setup/credentials.ts';
import { billingPath, deliver, openCheckout, readBilling, readPayments, type StripeApi, startStripeApi } from '../setup/stripeApi.ts';
import type { StripeAccount, StripeObject } from '../setup/stripeObjects.ts';
import { writeAt } from '../setup/writeAt.ts';

let started: StripeApi;
let api: TestApi;
let account: StripeAccount;
beforeAll(async () => {
  started = await startStripeApi();
  ({ api, account } = started);
});
afterAll(() => started.stop());

describe('a subscription at Stripe', () => {
  it('begins with its callbacks, follows its renewals and changes, and ends', async () => {
    const person = await api.signUp();
    const id = await openCheckout(person, { plan: 'solo' });
    expect(account.get(id)).toMatchObject({
      url: expect.stringContaining('https://checkout.stripe.example/'),
      success_url: `${api.config.publicUrl}/`,
    });
    expect(await readBilling(person.client)).toMatchObject({ provider: 'stripe', plan: 'free', plan_status: 'none' });

    await started.happen(() => account.completeSession(id));
    const begun = await readBilling(person.client);
    expect(begun).toMatchObject({
      plan: 'solo',
      plan_status: 'active',
      interval: 'monthly',
      card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2031 },
      credits: { included: 3000 },
    });
    const paid = { kind: 'subscription', amount: subscriptionPrices.solo.monthly, currency: 'jpy', credits: 0 };
    expect(await readPayments(api, begun.account_id)).toEqual([paid]);
    refused(await person.client.POST(`${billingPath}/checkout`, { body: { plan: 'pro', interval: 'annual' } }), 409, 'subscription-active');

    const { subscription } = account.get(id);
    await started.happen(() => account.renew(subscription));
    const renewed = await readBilling(person.client);
    expect(renewed.period_start).toBe(begun.period_end);
    expect(await readPayments(api, begun.account_id)).toEqual([paid, paid]);

    await started.happen(() => account.renew(subscription, false));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'solo', plan_status: 'past_due' });
    refused(await person.client.POST(`${billingPath}/payg`, { body: {} }), 409, 'subscription-active');
    await started.happen(() => account.payLate(subscription));
    expect(await readBilling(person.client)).toMatchObject({ plan_status: 'active' });

    await openCheckout(await api.signUp(), { plan: 'pro' });
    const [price] = account.list('price', ({ lookup_key }) => lookup_key === 'workbook_pro_monthly');
    await started.happen(() => account.changePlan(subscription, price as StripeObject));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'pro', plan_status: 'active', credits: { included: 15_000 } });

    await started.happen(() => account.cancel(subscription));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'pro', plan_status: 'canceled' });
    await started.happen(() => account.end(subscription));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'free', plan_status: 'none', interval: null, card: { last4: '4242' } });
    const { rows } = await api.sql.query<{ action: string }>(
      "SELECT action FROM audit_entries WHERE scope = $1 AND action LIKE 'billing%' ORDER BY seq",
      [begun.account_id],
    );
    expect(rows.map(({ action }) => action.slice(8))).toEqual([
      'card_saved',
      'subscribed',
      'subscription_renewed',
      'subscription_renewed',
      'subscribed',
      'unsubscribed',
      'subscription_ended',
    ]);
  });

  it.each([
    [{ status: 'trialing' }, { plan: 'solo', plan_status: 'trialing' }],
    [
      { status: 'trialing', cancel_at_period_end: true },
      { plan: 'solo', plan_status: 'canceled' },
    ],
    [
      { status: 'active', cancel_at: 2_000_000_000 },
      { plan: 'solo', plan_status: 'canceled' },
    ],
    [{ status: 'unpaid' }, { plan: 'solo', plan_status: 'past_due' }],
    [{ status: 'paused' }, { plan: 'solo', plan_status: 'past_due' }],
    [{ status: 'incomplete' }, { plan: 'free', plan_status: 'none' }],
    [{ status: 'incomplete_expired' }, { plan: 'free', plan_status: 'none' }],
    [{ status: 'canceled' }, { plan: 'free', plan_status: 'none' }],
    [{ status: 'a new one' }, { plan: 'free', plan_status: 'none' }],
  ])('that is %o there is %o here', async (there, here) => {
    const person = await api.signUp();
    const { subscription } = await started.complete(person, { plan: 'solo', interval: 'annual' });
    expect(await readBilling(person.client)).toMatchObject({ interval: 'annual' });
    await started.happen(() => {
      account.cancel(subscription);
      Object.assign(account.get(subscription), { cancel_at_period_end: false, ...there });
    });
    expect(await readBilling(person.client)).toMatchObject(here);
  });

  it('that is changed there and back has the credits of what was paid for', async () => {
    const person = await api.signUp();
    const { subscription } = await started.complete(person, { plan: 'solo' });
    await openCheckout(await api.signUp(), { plan: 'pro' });
    const price = (plan: string) => account.list('price', ({ lookup_key }) => lookup_key === `workbook_${plan}_monthly`)[0] as StripeObject;
    await started.happen(() => account.changePlanUnbilled(subscription, price('pro')));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'pro', credits: { included: 3000 } });
    await started.happen(() => account.changePlanUnbilled(subscription, price('solo')));
    await started.happen(() => account.renew(subscription));
    // So often that the bill has more lines than are told at once.
    for (const plan of ['pro', 'solo', 'pro', 'solo', 'pro', 'solo'])
      await started.happen(() => account.changePlanUnbilled(subscription, price(plan)));
    await started.happen(() => account.renew(subscription));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'solo', credits: { included: 3000 } });
    // One that stays changed has them with the next bill.
    await started.happen(() => account.changePlanUnbilled(subscription, price('pro')));
    await started.happen(() => account.renew(subscription));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'pro', credits: { included: 15_000 } });
  });

  it('that is tried out has the credits of its plan', async () => {
    const person = await api.signUp();
    const { account_id: accountId } = await readBilling(person.client);
    await writeAt(api.services, (tx) => grantMonth(tx, [accountId]));
    const id = await openCheckout(person, { plan: 'solo' });
    const before = account.events.length;
    account.completeSession(id);
    account.get(account.get(id).subscription).status = 'trialing';
    await deliver(
      api,
      account.events.slice(before).filter(({ type }) => type !== 'invoice.paid'),
    );
    expect(await readBilling(person.client)).toMatchObject({ plan_status: 'trialing', credits: { included: 3000 } });
  });

  it('of which is told when what was paid for is over brings no credits', async () => {
    const person = await api.signUp();
    const id = await openCheckout(person, { plan: 'solo' });
    const before = account.events.length;
    account.completeSession(id);
    const { subscription } = account.get(id);
    account.end(subscription);
    const [invoice] = account.list('invoice', ({ parent }) => parent.subscription_details.subscription === subscription);
    (invoice as StripeObject).lines.data[0].period.end = Math.floor(Date.now() / 1000) - 60;
    await deliver(api, account.events.slice(before));
    const billing = await readBilling(person.client);
    expect(billing).toMatchObject({ plan: 'free', credits: { included: 200 } });
    expect(await readPayments(api, billing.account_id)).toHaveLength(1);
  });

  it('is sold at the prices of the price list, which are made at Stripe once', async () => {
    await openCheckout(await api.signUp(), { plan: 'pro', interval: 'annual' });
    await openCheckout(await api.signUp(), { plan: 'pro', interval: 'annual' });
    const find = () => account.list('price', ({ lookup_key }) => lookup_key === 'workbook_pro_annual');
    const [price] = find();
    expect(find()).toHaveLength(1);
    expect(price).toMatchObject({ unit_amount: subscriptionPrices.pro.annual, currency: 'jpy', recurring: { interval: 'year' } });
    // Another release has other prices.
    (price as StripeObject).unit_amount = 1;
    const session = account.get(await openCheckout(await api.signUp(), { plan: 'pro', interval: 'annual' }));
    expect(account.get(session.line_items[0].price)).toMatchObject({ unit_amount: subscriptionPrices.pro.annual });
    expect(find()).toHaveLength(1);
  });
});

describe('a customer at Stripe', () => {
  it('is made once for an account, however many pages are opened at a time', async () => {
    const person = await api.signUp();
    const sessions = await Promise.all(Array.from({ length: 6 }, () => openCheckout(person, 'setup')));
    const customers = new Set(sessions.map((id) => account.get(id).customer));
    expect(customers.size).toBe(1);
    const { portal_url } = ok(await person.client.POST(`${billingPath}/portal`, { body: { return_url: 'https://shop.example/' } }));
    expect(portal_url).toContain('https://billing.stripe.example/');
    expect(account.list('billing_portal.session', () => true)[0]).toMatchObject({
      customer: [...customers][0],
      return_url: 'https://shop.example/',
    });
  });

  it('is made again where Stripe does not know it: it was deleted there, or paid with the embedded provider', async () => {
    const person = await api.signUp();
    const first = account.get(await openCheckout(person, 'setup')).customer;
    account.objects.delete(first);
    const second = account.get(await openCheckout(person, 'setup')).customer;
    expect(second).not.toBe(first);
    expect(account.get(await openCheckout(person, { plan: 'pro' })).customer).toBe(second);
    const { account_id: accountId } = await readBilling(person.client);
    await api.sql.query("UPDATE billing_profiles SET customer_id = 'ledger_x' WHERE account_id = $1", [accountId]);
    await started.complete(person, 'setup');
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', card: { last4: '4242' } });
  });

  it('has pay-as-you-go while it has a card', async () => {
    const person = await api.signUp();
    const { customer } = await started.complete(person, 'setup');
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', plan_status: 'none', auto_topup: { enabled: true } });
    // Another card is chosen in the portal, and the first one goes.
    const [first] = account.list('payment_method', (one) => one.customer === customer);
    await started.happen(() => account.chooseCard(account.saveCard(customer, '1111').id));
    await started.happen(() => account.removeCard((first as StripeObject).id));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', card: { last4: '1111' } });
    // The chosen one pays also when another is saved.
    await started.complete(person, 'setup', '2222');
    expect(await readBilling(person.client)).toMatchObject({ card: { last4: '1111' } });
    for (const { id } of account.list('payment_method', (one) => one.customer === customer))
      await started.happen(() => account.removeCard(id));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'free', card: null, auto_topup: { enabled: false } });
  });

  it('is shared with a developer account, which pays with its card', async () => {
    const person = await api.signUp();
    const developer = await makeAccount(person.client, 'Robots');
    const { customer } = await started.complete(person, 'setup');
    const shared = ok(await person.client.POST(`${billingPath}/reuse-card`, { body: { account_id: developer } }));
    expect(shared).toMatchObject({ plan: 'payg', card: { last4: '4242' } });
    const topup = (key: string) =>
      person.client.POST(`${billingPath}/topup`, {
        body: { pack: 'small', account_id: developer },
        params: { header: { 'Idempotency-Key': key } },
      });
    expect(ok(await topup('one'))).toMatchObject({ status: 'paid', credits: { purchased: 1000 } });
    expect(started.succeeded(customer)).toHaveLength(1);
    // Its own page of a pack is one of the shared customer, too.
    for (const { id } of account.list('payment_method', (one) => one.customer === customer)) account.get(id).card.last4 = '0002';
    const page = ok(await topup('two'));
    expect(account.get(page.session_id as string).customer).toBe(customer);
    await started.happen(() => account.completeSession(page.session_id as string));
    expect(ok(await person.client.GET(billingPath, { params: { query: { account_id: developer } } })).credits.purchased).toBe(2000);
    expect((await readBilling(person.client)).credits.purchased).toBe(0);
    // Without the card the developer account pays by usage no more.
    for (const { id } of account.list('payment_method', (one) => one.customer === customer))
      await started.happen(() => account.removeCard(id));
    const billing = ok(await person.client.GET(billingPath, { params: { query: { account_id: developer } } }));
    expect(billing).toMatchObject({ plan: 'free', card: null, auto_topup: { enabled: false } });
  });
});
