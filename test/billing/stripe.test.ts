import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payCharges } from '../../activities/billing/payCharges.ts';
import { packs, subscriptionPrices } from '../../core/credits/priceList.ts';
import { configToEnv } from '../../store/childEnv.ts';
import { loadConfig } from '../../store/config.ts';
import { ok, type Person, refused, type TestApi } from '../setup/api.ts';
import { makeAccount } from '../setup/credentials.ts';
import { secretKey, signCallback, stripeEnv } from '../setup/stripe.ts';
import {
  billingPath,
  deliver,
  openCheckout,
  readBilling,
  readPayments,
  type StripeApi,
  sendEvent,
  startStripeApi,
} from '../setup/stripeApi.ts';
import type { StripeAccount, StripeObject } from '../setup/stripeObjects.ts';
import type { StripeServer } from '../setup/stripeServer.ts';

let started: StripeApi;
let api: TestApi;
let stripe: StripeServer;
let account: StripeAccount;
beforeAll(async () => {
  started = await startStripeApi();
  ({ api, stripe } = started);
  ({ account } = stripe);
});
afterAll(() => started.stop());

/** Does something at Stripe, and delivers what it tells of it. */
async function happen(action: () => void): Promise<void> {
  const before = account.events.length;
  action();
  await deliver(api, account.events.slice(before));
}

async function complete(person: Person, order: Parameters<typeof openCheckout>[1], last4?: string): Promise<StripeObject> {
  const id = await openCheckout(person, order);
  await happen(() => account.completeSession(id, last4));
  return account.get(id);
}

const buy = (person: Person, key?: string) =>
  person.client.POST(`${billingPath}/topup`, {
    body: { pack: 'small' },
    ...(key === undefined ? {} : { params: { header: { 'Idempotency-Key': key } } }),
  });

const succeeded = (customer: string) => account.list('payment_intent', (one) => one.customer === customer && one.status === 'succeeded');

describe('a subscription at Stripe', () => {
  it('begins with its callbacks, follows its renewals and changes, and ends', async () => {
    const person = await api.signUp();
    const id = await openCheckout(person, { plan: 'solo' });
    expect(account.get(id)).toMatchObject({
      url: expect.stringContaining('https://checkout.stripe.example/'),
      success_url: `${api.config.publicUrl}/`,
    });
    expect(await readBilling(person.client)).toMatchObject({ provider: 'stripe', plan: 'free', plan_status: 'none' });

    await happen(() => account.completeSession(id));
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
    await happen(() => account.renew(subscription));
    const renewed = await readBilling(person.client);
    expect(renewed.period_start).toBe(begun.period_end);
    expect(await readPayments(api, begun.account_id)).toEqual([paid, paid]);

    await happen(() => account.renew(subscription, false));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'solo', plan_status: 'past_due' });
    refused(await person.client.POST(`${billingPath}/payg`, { body: {} }), 409, 'subscription-active');
    await happen(() => account.payLate(subscription));
    expect(await readBilling(person.client)).toMatchObject({ plan_status: 'active' });

    await openCheckout(await api.signUp(), { plan: 'pro' });
    const [price] = account.list('price', ({ lookup_key }) => lookup_key === 'workbook_pro_monthly');
    await happen(() => account.changePlan(subscription, price as StripeObject));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'pro', plan_status: 'active', credits: { included: 15_000 } });

    await happen(() => account.cancel(subscription));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'pro', plan_status: 'canceled' });
    await happen(() => account.end(subscription));
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
    const { subscription } = await complete(person, { plan: 'solo', interval: 'annual' });
    expect(await readBilling(person.client)).toMatchObject({ interval: 'annual' });
    await happen(() => {
      account.cancel(subscription);
      Object.assign(account.get(subscription), { cancel_at_period_end: false, ...there });
    });
    expect(await readBilling(person.client)).toMatchObject(here);
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
    await complete(person, 'setup');
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', card: { last4: '4242' } });
  });

  it('has pay-as-you-go while it has a card', async () => {
    const person = await api.signUp();
    const { customer } = await complete(person, 'setup');
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', plan_status: 'none', auto_topup: { enabled: true } });
    // Another card is chosen in the portal, and the first one goes.
    const [first] = account.list('payment_method', (one) => one.customer === customer);
    await happen(() => account.chooseCard(account.saveCard(customer, '1111').id));
    await happen(() => account.removeCard((first as StripeObject).id));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', card: { last4: '1111' } });
    // The chosen one pays also when another is saved.
    await complete(person, 'setup', '2222');
    expect(await readBilling(person.client)).toMatchObject({ card: { last4: '1111' } });
    for (const { id } of account.list('payment_method', (one) => one.customer === customer)) await happen(() => account.removeCard(id));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'free', card: null, auto_topup: { enabled: false } });
  });

  it('is shared with a developer account, which pays with its card', async () => {
    const person = await api.signUp();
    const developer = await makeAccount(person.client, 'Robots');
    const { customer } = await complete(person, 'setup');
    const shared = ok(await person.client.POST(`${billingPath}/reuse-card`, { body: { account_id: developer } }));
    expect(shared).toMatchObject({ plan: 'payg', card: { last4: '4242' } });
    const topup = (key: string) =>
      person.client.POST(`${billingPath}/topup`, {
        body: { pack: 'small', account_id: developer },
        params: { header: { 'Idempotency-Key': key } },
      });
    expect(ok(await topup('one'))).toMatchObject({ status: 'paid', credits: { purchased: 1000 } });
    expect(succeeded(customer)).toHaveLength(1);
    // Its own page of a pack is one of the shared customer, too.
    for (const { id } of account.list('payment_method', (one) => one.customer === customer)) account.get(id).card.last4 = '0002';
    const page = ok(await topup('two'));
    expect(account.get(page.session_id as string).customer).toBe(customer);
    await happen(() => account.completeSession(page.session_id as string));
    expect(ok(await person.client.GET(billingPath, { params: { query: { account_id: developer } } })).credits.purchased).toBe(2000);
    expect((await readBilling(person.client)).credits.purchased).toBe(0);
  });
});

describe('a charge without the person', () => {
  it('happens once for each request, whatever is lost on the way', async () => {
    const person = await api.signUp();
    const { customer } = await complete(person, 'setup');
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
    expect(succeeded(customer)).toHaveLength(4);
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
    await complete(person, 'setup');
    stripe.faults.push(...[1, 2].map(() => ({ matches: /confirm$/, fault: 'lost' as const })));
    refused(await buy(person), 503, 'unavailable');
    expect((await readBilling(person.client)).credits.purchased).toBe(0);
    await deliver(api, account.events.slice(-1));
    expect((await readBilling(person.client)).credits.purchased).toBe(1000);
  });

  it.each(['0002', '3155'])('leads to a page where the card ending in %s says no, and is not made later', async (last4) => {
    const person = await api.signUp();
    const { customer } = await complete(person, 'setup', last4);
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
    expect(succeeded(customer)).toHaveLength(1);
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

describe('a callback', () => {
  const event = { id: 'evt_x', object: 'event', type: 'customer.updated', data: { object: { id: 'cus_nobodys', object: 'customer' } } };
  const body = JSON.stringify(event);
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
  const post = (text: string, signature: string | null) =>
    api.fetch('/api/control/billing/callback', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(signature === null ? {} : { 'Stripe-Signature': signature }) },
      body: text,
    });

  it.each<[string, () => [string, string | null], number, string]>([
    ['without a signature', () => [body, null], 403, 'bad-signature'],
    ['with an empty one', () => [body, ''], 403, 'bad-signature'],
    ['with one that is none', () => [body, 'hello'], 403, 'bad-signature'],
    ['with one of another scheme', () => [body, signCallback(body).replace('v1=', 'v0=')], 403, 'bad-signature'],
    ['of another secret', () => [body, signCallback(body, { secret: 'whsec_another' })], 403, 'bad-signature'],
    ['of another body', () => [`${body} `, signCallback(body)], 403, 'bad-signature'],
    ['signed long ago', () => [body, signCallback(body, { at: ago(400) })], 403, 'bad-signature'],
    [
      'whose time was changed',
      () => [body, signCallback(body, { at: ago(400) }).replace(/t=\d+/, `t=${Math.floor(Date.now() / 1000)}`)],
      403,
      'bad-signature',
    ],
    ['that is no JSON', () => ['{"id": ', signCallback('{"id": ')], 400, 'malformed-request'],
    ['that is a list', () => ['[]', signCallback('[]')], 422, 'validation-failed'],
    ['whose signature is long', () => [body, `${signCallback(body)}${',v1=00'.repeat(500)}`], 422, 'validation-failed'],
    ['that is too large', () => [JSON.stringify({ x: 'x'.repeat(600_000) }), 'x'], 413, 'too-large'],
  ])('%s is refused', async (_, make, status, slug) => {
    const answer = await post(...make());
    expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([status, `urn:svc:problem:${slug}`]);
  });

  it('signed a while ago, or by one of two secrets, is taken', async () => {
    expect((await post(body, signCallback(body, { at: ago(200) }))).status).toBe(200);
    expect((await post(body, signCallback(body).replace(',v1=', ',v1=00,v1='))).status).toBe(200);
  });

  it.each([
    event,
    { ...event, type: 'a.new.kind' },
    { object: 'event', type: 'invoice.paid' },
    { ...event, type: 'invoice.paid', data: null },
    { ...event, type: 'invoice.paid', data: { object: { id: 7 } } },
    { object: 'v2.core.event', id: 'evt_y', type: 'v2.thin' },
    ...['checkout.session.completed', 'customer.subscription.updated', 'invoice.paid', 'payment_intent.succeeded'].map((type) => ({
      ...event,
      type,
      data: { object: { id: 'x_unknown' } },
    })),
    { ...event, type: 'payment_method.detached', data: { object: { id: 'pm_1', customer: null } } },
  ])('that concerns nobody is taken, and changes nothing: %j', async (sent) => {
    const before = await api.sql.query('SELECT count(*) FROM billing_events');
    const answer = await sendEvent(api, sent);
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
    expect((await api.sql.query('SELECT count(*) FROM billing_events')).rows).toEqual(before.rows);
  });

  it('about something of another application, or of an account that is gone, is taken', async () => {
    for (const metadata of [{}, { workbook_account: 'acc_gone' }, { workbook_account: "x', '*" }]) {
      const payment = account.make('pi', 'payment_intent', { status: 'succeeded', metadata: { ...metadata, workbook_pack: 'small' } });
      expect((await sendEvent(api, { ...event, id: payment.id, type: 'payment_intent.succeeded', data: { object: payment } })).status).toBe(
        200,
      );
    }
  });

  it('is asked for again while Stripe does not answer', async () => {
    const person = await api.signUp();
    const id = await openCheckout(person, 'setup');
    const before = account.events.length;
    account.completeSession(id);
    const matches = /GET \/v1\/checkout/;
    stripe.faults.push({ matches, fault: 500 }, { matches, fault: 500 });
    const [completed] = account.events.slice(before).filter(({ type }) => type === 'checkout.session.completed');
    const refusal = await sendEvent(api, completed as object);
    expect([refusal.status, await refusal.text()]).toEqual([503, expect.not.stringContaining(secretKey)]);
    expect((await readBilling(person.client)).plan).toBe('free');
    expect((await sendEvent(api, completed as object)).status).toBe(200);
    expect((await readBilling(person.client)).plan).toBe('payg');
    // And a repetition asks nothing of Stripe.
    const asked = stripe.asked.length;
    expect((await sendEvent(api, completed as object)).status).toBe(200);
    expect(stripe.asked.length).toBe(asked);
  });

  it('that took long does not put an older state over a newer one', async () => {
    const person = await api.signUp();
    const { subscription } = await complete(person, { plan: 'solo' });
    const before = account.events.length;
    account.cancel(subscription);
    // What is read for the first callback is from before the second.
    const held = stripe.hold(/GET \/v1\/customers/);
    const slow = sendEvent(api, account.events[before] as object);
    await held.arrived;
    account.end(subscription);
    const last = await sendEvent(api, account.events.at(-1) as object);
    expect(last.status).toBe(200);
    held.release();
    expect((await slow).status).toBe(200);
    expect(await readBilling(person.client)).toMatchObject({ plan: 'free', plan_status: 'none' });
  });
});

describe('overage that the card did not pay', () => {
  it('stays due whatever else is told, and is asked for again of another card', async () => {
    const person = await api.signUp();
    const { customer } = await complete(person, 'setup', '0002');
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
    await happen(() => account.chooseCard((card as StripeObject).id));
    expect(await readBilling(person.client)).toMatchObject({ plan: 'payg', plan_status: 'past_due' });
    expect(await isDeclined()).toEqual([{ declined: true }]);
    await happen(() => account.chooseCard(account.saveCard(customer, '4242').id));
    expect(await isDeclined()).toEqual([{ declined: false }]);
    expect(await payCharges(api.services, accountId, { heartbeat() {} })).toBe(1);
    expect(await readPayments(api, accountId)).toEqual([{ kind: 'settlement', amount: 660, currency: 'jpy', credits: 600 }]);
    expect(succeeded(customer)).toMatchObject([{ amount: 660, currency: 'jpy', description: '600 credits of overage' }]);
    expect(await readBilling(person.client)).toMatchObject({ plan_status: 'none' });
  });
});

describe('the configuration', () => {
  const both = stripeEnv('https://stripe.example:8443');
  it('is whole or absent, and is handed on to processes', () => {
    const config = loadConfig(both);
    expect(config.stripe).toMatchObject({ apiUrl: 'https://stripe.example:8443' });
    expect(loadConfig({}).stripe).toBeNull();
    expect(loadConfig(configToEnv(config)).stripe).toEqual(config.stripe);
    expect(loadConfig({ ...both, STRIPE_API_URL: undefined }).stripe?.apiUrl).toBe('https://api.stripe.com');
  });

  it.each([
    [{ ...both, STRIPE_WEBHOOK_SECRET: '' }, /STRIPE_WEBHOOK_SECRET is not set/],
    [{ ...both, STRIPE_SECRET_KEY: '' }, /STRIPE_SECRET_KEY is not set/],
    [{ ...both, STRIPE_SECRET_KEY: 'pk_test_published' }, /STRIPE_SECRET_KEY does not look like one/],
    [{ ...both, STRIPE_WEBHOOK_SECRET: 'sk_test_wrong' }, /STRIPE_WEBHOOK_SECRET does not look like one/],
    [{ ...both, STRIPE_API_URL: 'https://stripe.example/v1' }, /STRIPE_API_URL must have no path/],
    [{ ...both, STRIPE_API_URL: 'stripe' }, /STRIPE_API_URL must be an address/],
  ])('that is half there is refused at the start: %#', (env, problem) => {
    const said = (() => {
      try {
        loadConfig(env);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(said).toMatch(problem);
    // Never a secret.
    expect(said).not.toMatch(/published|wrong|notareal/);
  });
});

describe('without Stripe', () => {
  it('every callback is refused', async () => {
    const ledger = await api.another({ STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '' });
    expect((await sendEvent(ledger, { id: 'evt_1', type: 'invoice.paid' })).status).toBe(403);
    await ledger.stop();
  });
});
