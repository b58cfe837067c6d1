import { ok, type TestServer } from '../setup/api.ts';
import { makeAccount } from '../setup/credentials.ts';
import { signCallback, stripeEnv } from '../setup/stripe.ts';
import type { MakeSample, Sample } from './sample.ts';
import type { World } from './world.ts';

const base = '/api/control/account/billing' as const;

/** What a button of a page sends. */
const press = (path: string, action: string): Sample => ({
  path,
  body: `action=${action}`,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
});

/** Each on an account of its own, which has no subscription yet. */
const newAccount = ({ owner }: World) => makeAccount(owner.client, 'Sample');

async function openCheckout(world: World): Promise<string> {
  const body = { plan: 'solo', interval: 'monthly', account_id: await newAccount(world) } as const;
  return new URL(ok(await world.owner.client.POST(`${base}/checkout`, { body })).checkout_url).pathname;
}

async function openPortal(world: World): Promise<string> {
  const body = { account_id: await newAccount(world) };
  return new URL(ok(await world.owner.client.POST(`${base}/portal`, { body })).portal_url).pathname;
}

const servers = new WeakMap<World['api'], Promise<TestServer>>();

/** A server that takes payments through Stripe: the embedded provider sends no callbacks. */
function findStripeServer({ api }: World): Promise<TestServer> {
  const server = servers.get(api) ?? api.another(stripeEnv());
  servers.set(api, server);
  return server;
}

export const billingSamples = {
  getBilling: () => ({ path: base }),
  configureAutoTopup: () => ({ path: `${base}/auto-topup`, body: { enabled: true, amount: 2000 } }),
  startCheckout: async (world) => ({
    path: `${base}/checkout`,
    body: { plan: 'solo', interval: 'monthly', account_id: await newAccount(world) },
  }),
  enablePayg: async (world) => ({ path: `${base}/payg`, body: { account_id: await newAccount(world) } }),
  openBillingPortal: async (world) => ({ path: `${base}/portal`, body: { account_id: await newAccount(world) } }),
  reuseCard: async (world) => ({ path: `${base}/reuse-card`, body: { account_id: await newAccount(world) } }),
  buyCredits: async (world) => ({ path: `${base}/topup`, body: { pack: 'small', account_id: await newAccount(world) } }),
  getCheckoutPage: async (world) => ({ path: await openCheckout(world) }),
  completeCheckout: async (world) => press(await openCheckout(world), 'confirm'),
  getPortalPage: async (world) => ({ path: await openPortal(world) }),
  receiveBillingCallback: async (world) => {
    const body = JSON.stringify({ id: 'evt_1', object: 'event', type: 'charge.updated', data: { object: { id: 'ch_1' } } });
    const headers = { 'Content-Type': 'application/json', 'Stripe-Signature': signCallback(body) };
    return { path: '/api/control/billing/callback', body, headers, at: await findStripeServer(world) };
  },
  submitPortal: async (world) => press(await openPortal(world), 'return'),
} satisfies Record<string, MakeSample>;
