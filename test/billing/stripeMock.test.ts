import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import type { PaymentProvider } from '../../store/billing/provider.ts';
import { openStripe } from '../../store/billing/stripe/openStripe.ts';
import { loadConfig } from '../../store/config.ts';
import { findProgram } from '../../store/findProgram.ts';
import { secretKey, signCallback, stripeEnv } from '../setup/stripe.ts';

/**
 * `stripe-mock` is Stripe's own: it has no state, but checks every request against the description of Stripe's API, and answers as
 * that says. It is used where it is on the PATH or in the user's cache
 * (`go install github.com/stripe/stripe-mock@v0.203.0` makes it).
 */
const { searchPath, cacheDir } = loadConfig({ PATH: process.env.PATH, HOME: process.env.HOME }).machine;
const program = findProgram('stripe-mock', [...searchPath, cacheDir]);
if (program === null) console.warn('stripe-mock is not here, so no request to Stripe was checked: see test/billing/stripeMock.test.ts');

const asks = [
  'GET /v1/checkout/sessions',
  'GET /v1/checkout/sessions/ID',
  'GET /v1/customers',
  'GET /v1/customers/ID',
  'GET /v1/invoices/ID',
  'GET /v1/payment_intents',
  'GET /v1/payment_intents/ID',
  'GET /v1/payment_methods',
  'GET /v1/prices',
  'GET /v1/subscriptions',
  'GET /v1/subscriptions/ID',
  'POST /v1/billing_portal/sessions',
  'POST /v1/checkout/sessions',
  'POST /v1/customers',
  'POST /v1/payment_intents',
  'POST /v1/payment_intents/ID/cancel',
  'POST /v1/payment_intents/ID/confirm',
  'POST /v1/prices',
  'POST /v1/products',
];

describe.skipIf(program === null)('stripe-mock takes', () => {
  let mock: ChildProcess;
  let output = '';
  let payments: PaymentProvider;
  beforeAll(async () => {
    const port = await findFreePort();
    mock = spawn(program as string, ['-http-port', String(port)]);
    for (const stream of [mock.stdout, mock.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const url = `http://127.0.0.1:${port}`;
    const isUp = () =>
      fetch(`${url}/v1/customers`, { headers: { Authorization: `Bearer ${secretKey}` } }).then(
        () => true,
        () => false,
      );
    while (mock.exitCode === null && !(await isUp())) await delay(100);
    const { stripe } = loadConfig(stripeEnv(url));
    payments = openStripe(stripe as NonNullable<typeof stripe>, { publicUrl: 'https://data.example.com' });
  });
  afterAll(() => mock.kill());

  const page = { accountId: 'acc_1', successUrl: 'https://shop.example/?id={CHECKOUT_SESSION_ID}', cancelUrl: null };

  it.each([
    { kind: 'subscription', plan: 'solo', interval: 'monthly' },
    { kind: 'subscription', plan: 'pro', interval: 'annual' },
    { kind: 'setup' },
    { kind: 'topup', pack: 'medium' },
  ] as const)('the page of %j', async (order) => {
    for (const customerId of [null, 'cus_1']) {
      const { url, sessionId } = await payments.openCheckout({ ...page, customerId, order });
      expect([url, sessionId]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^cs_/)]);
    }
  });

  it('the portal, charges, and questions about customers', async () => {
    for (const returnUrl of [null, 'https://shop.example/'])
      expect((await payments.openPortal({ accountId: 'acc_1', customerId: null, returnUrl })).sessionId).toMatch(/^bps_/);
    const charge = {
      customerId: 'cus_1',
      accountId: 'acc_1',
      amount: 1200,
      currency: 'jpy',
      description: '1000 credits',
      pack: 'small',
    } as const;
    // It answers as if the bank wanted the person to do something.
    expect(await payments.charge({ ...charge, key: 'charge_1:0' })).toMatchObject({ outcome: 'declined' });
    await payments.endAccount({ accountId: 'acc_1', customerIds: ['cus_1'], onEnded() {} });
    expect(await payments.readCustomer('cus_1', 'acc_1')).toMatchObject({ card: { last4: expect.any(String) }, subscription: null });
  });

  it.each([
    'checkout.session.completed',
    'customer.subscription.updated',
    'invoice.paid',
    'payment_intent.succeeded',
    'payment_method.attached',
    'customer.updated',
  ])('the look at what %s is about', async (type) => {
    const body = JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object: { id: 'x_1', customer: 'cus_1' } } });
    const news = await payments.readCallback(Buffer.from(body), signCallback(body))?.look();
    // Nothing that it invents names an account.
    expect(news?.accountId ?? null).toBeNull();
  });

  it('and there is no other request, nor one that it refused', async () => {
    const listAsked = () => {
      const asked = [...output.matchAll(/^Request: (\w+ \/v1\/\S+)/gm)].map(([, text = '']) => text);
      return [...new Set(asked.map((text) => text.replace(/\/[a-z]{1,4}_\w+/, '/ID')))].sort();
    };
    await expect.poll(listAsked).toEqual(asks);
    expect([...new Set([...output.matchAll(/status=(\d+)/g)].map(([, status]) => status))]).toEqual(['200']);
  });
});
