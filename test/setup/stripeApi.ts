import { expect } from 'vitest';
import { type ApiClient, ok, type Person, startTestApi, type TestApi, type TestServer } from './api.ts';
import { secretKey, signCallback, stripeEnv } from './stripe.ts';
import type { StripeAccount, StripeEvent, StripeObject } from './stripeObjects.ts';
import { type StripeServer, startStripeServer } from './stripeServer.ts';

export const billingPath = '/api/control/account/billing' as const;

export interface StripeApi {
  api: TestApi;
  stripe: StripeServer;
  account: StripeAccount;
  /** Does something at Stripe, and delivers what it tells of it. */
  happen(action: () => void): Promise<void>;
  /** Opens a page and fills it in. Returns its session. */
  complete(person: Person, order: Parameters<typeof openCheckout>[1], last4?: string): Promise<StripeObject>;
  /** The payments of a customer that were made. */
  succeeded(customer: string): StripeObject[];
  stop(): Promise<void>;
}

/** An API that takes payments through a server that speaks Stripe's wire format. */
export async function startStripeApi(): Promise<StripeApi> {
  const stripe = await startStripeServer(secretKey);
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off', ...stripeEnv(stripe.url) });
  const { account } = stripe;
  const happen = async (action: () => void) => {
    const before = account.events.length;
    action();
    await deliver(api, account.events.slice(before));
  };
  return {
    api,
    stripe,
    account,
    happen,
    async complete(person, order, last4) {
      const id = await openCheckout(person, order);
      await happen(() => account.completeSession(id, last4));
      return account.get(id);
    },
    succeeded: (customer) => account.list('payment_intent', (one) => one.customer === customer && one.status === 'succeeded'),
    async stop() {
      await api.stop();
      stripe.stop();
    },
  };
}

/** Sends an event as Stripe does. */
export function sendEvent(
  server: Pick<TestServer, 'fetch'>,
  event: StripeEvent | object,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = JSON.stringify(event, null, 2);
  return server.fetch('/api/control/billing/callback', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Stripe-Signature': signCallback(body), ...headers },
    body,
  });
}

/** Sends events one after the other; each is taken. */
export async function deliver(server: Pick<TestServer, 'fetch'>, events: StripeEvent[]): Promise<void> {
  for (const event of events) {
    const answer = await sendEvent(server, event);
    expect([event.type, answer.status, await answer.text()]).toEqual([event.type, 200, '{"received":true}']);
  }
}

export const readBilling = async (client: ApiClient) => ok(await client.GET(billingPath));

/** Opens the page of a checkout; returns the id of its session. */
export async function openCheckout(
  { client }: Person,
  order: { plan: 'solo' | 'pro'; interval?: 'monthly' | 'annual' } | 'setup' | { pack: 'small' | 'medium' },
): Promise<string> {
  if (order === 'setup') return ok(await client.POST(`${billingPath}/payg`, { body: {} })).session_id;
  if ('pack' in order) return ok(await client.POST(`${billingPath}/topup`, { body: order })).session_id as string;
  return ok(await client.POST(`${billingPath}/checkout`, { body: { interval: 'monthly', ...order } })).session_id;
}

/** What was booked for the account, without names of the provider. */
export async function readPayments({ sql }: TestApi, accountId: string): Promise<object[]> {
  const { rows } = await sql.query('SELECT kind, amount, currency, credits FROM payments WHERE account_id = $1 ORDER BY 1, 2, 3, 4', [
    accountId,
  ]);
  return rows;
}
