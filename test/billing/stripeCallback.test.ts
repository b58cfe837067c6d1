import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi } from '../setup/api.ts';
import { secretKey, signCallback } from '../setup/stripe.ts';
import { openCheckout, readBilling, type StripeApi, sendEvent, startStripeApi } from '../setup/stripeApi.ts';
import type { StripeAccount } from '../setup/stripeObjects.ts';
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
    const { subscription } = await started.complete(person, { plan: 'solo' });
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

describe('without Stripe', () => {
  it('every callback is refused', async () => {
    const ledger = await api.another({ STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '' });
    expect((await sendEvent(ledger, { id: 'evt_1', type: 'invoice.paid' })).status).toBe(403);
    await ledger.stop();
  });
});
