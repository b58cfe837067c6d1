import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Person, TestApi } from '../setup/api.ts';
import { startApiProcess } from '../setup/apiProcess.ts';
import { stripeEnv } from '../setup/stripe.ts';
import { deliver, openCheckout, readBilling, readPayments, type StripeApi, sendEvent, startStripeApi } from '../setup/stripeApi.ts';
import type { StripeAccount, StripeEvent, StripeObject } from '../setup/stripeObjects.ts';

/** Callbacks come in any order, late, twice, and at the same time: the account and its books are the same in the end. */

let started: StripeApi;
let api: TestApi;
let account: StripeAccount;
beforeAll(async () => {
  started = await startStripeApi();
  api = started.api;
  account = started.stripe.account;
});
afterAll(() => started.stop());

const pages = {
  setup: 'setup',
  again: 'setup',
  solo: { plan: 'solo' },
  pro: { plan: 'pro' },
  annual: { plan: 'solo', interval: 'annual' },
  pack: { pack: 'small' },
  packs: { pack: 'medium' },
} as const satisfies Record<string, Parameters<typeof openCheckout>[1]>;
type Page = keyof typeof pages;

/** Somebody who has opened the pages that a story needs: later the service might refuse, as it does not know yet what was done. */
interface Payer {
  person: Person;
  pages: Partial<Record<Page, string>>;
  customer: string;
  subscription: string | null;
  /** What Stripe has told about them. */
  events: StripeEvent[];
}

async function makePayer(story: Action[]): Promise<Payer> {
  const person = await api.signUp();
  const opened: Payer['pages'] = {};
  const needed = (Object.keys(pages) as Page[]).filter((page) => page === 'setup' || story.some((action) => pageOf[action] === page));
  for (const page of needed) opened[page] = await openCheckout(person, pages[page]);
  const { customer } = account.get(opened.setup as string);
  return { person, pages: opened, customer, subscription: null, events: [] };
}

const isOpen = (id: string) => account.get(id).status === 'open';
const cardsOf = (payer: Payer) => account.list('payment_method', ({ customer }) => customer === payer.customer);
const priceOf = (plan: string) => account.list('price', ({ lookup_key }) => lookup_key === `workbook_${plan}_monthly`)[0] as StripeObject;

const fill = (page: Page, last4?: string) => (payer: Payer) => {
  const id = payer.pages[page] as string;
  if (!isOpen(id)) return;
  account.completeSession(id, last4);
  payer.subscription = account.get(id).subscription ?? payer.subscription;
};
/** One subscription at a time, unless the one before is not renewed. */
const subscribe = (page: 'solo' | 'pro' | 'annual') => (payer: Payer) => {
  const before = payer.subscription && account.get(payer.subscription);
  if (!before || before.status === 'canceled' || before.cancel_at_period_end) fill(page)(payer);
};
const withSubscription = (status: string, act: (id: string) => void) => (payer: Payer) => {
  if (payer.subscription && account.get(payer.subscription).status === status) act(payer.subscription);
};

/** What people do, and what time does. Each does nothing where it cannot happen. */
const actions = {
  saveCard: fill('setup', '1111'),
  saveAnother: fill('again', '2222'),
  buyPack: fill('pack', '4242'),
  buyMore: fill('packs', '4242'),
  subscribeSolo: subscribe('solo'),
  subscribePro: subscribe('pro'),
  subscribeForAYear: subscribe('annual'),
  renew: withSubscription('active', (id) => account.renew(id)),
  failToRenew: withSubscription('active', (id) => account.renew(id, false)),
  payLate: withSubscription('past_due', (id) => account.payLate(id)),
  changeToPro: withSubscription('active', (id) => account.changePlan(id, priceOf('pro'))),
  changeUnbilled: withSubscription('active', (id) => account.changePlanUnbilled(id, priceOf('pro'))),
  changeBack: withSubscription('active', (id) => account.changePlanUnbilled(id, priceOf('solo'))),
  cancel: withSubscription('active', (id) => account.cancel(id)),
  end: withSubscription('active', (id) => account.end(id)),
  giveUp: withSubscription('past_due', (id) => account.end(id)),
  chooseOldest(payer: Payer) {
    const oldest = cardsOf(payer).at(-1);
    if (oldest) account.chooseCard(oldest.id);
  },
  removeCards(payer: Payer) {
    for (const { id } of cardsOf(payer)) account.removeCard(id);
  },
};
type Action = keyof typeof actions;
const pageOf: Partial<Record<Action, Page>> = {
  saveCard: 'setup',
  saveAnother: 'again',
  buyPack: 'pack',
  buyMore: 'packs',
  subscribeSolo: 'solo',
  subscribePro: 'pro',
  subscribeForAYear: 'annual',
  changeToPro: 'pro',
  changeUnbilled: 'pro',
  changeBack: 'solo',
};

/** Returns the events of it. */
function act(payer: Payer, action: Action): StripeEvent[] {
  const before = account.events.length;
  actions[action](payer);
  const told = account.events.slice(before);
  payer.events.push(...told);
  return told;
}

const dayMs = 86_400_000;

/** The account and its books. Times are those of their own Stripe, so they are told in days from now. */
async function readEnd({ person }: Payer): Promise<object> {
  const { account_id: accountId, period_start, period_end, ...billing } = await readBilling(person.client);
  const days = [period_start, period_end].map((at) => Math.round((Date.parse(at) - Date.now()) / dayMs));
  const { rows } = await api.sql.query(
    'SELECT source, bucket, sum(amount)::int AS amount FROM credit_entries WHERE account_id = $1 GROUP BY 1, 2 HAVING sum(amount) <> 0 ORDER BY 1, 2',
    [accountId],
  );
  return { billing, days, books: rows, payments: await readPayments(api, accountId) };
}

const order = fc.record({
  /** After which of the actions what has been told so far is delivered, in part. */
  early: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  shuffle: fc.array(fc.nat(1_000_000), { minLength: 12, maxLength: 12 }),
  atATime: fc.constantFrom(1, 4),
});

/** All of them and some of them twice, in an order that the numbers make. */
function mixUp(events: StripeEvent[], numbers: number[]): StripeEvent[] {
  const twice = [...events, ...events.filter((_, i) => (numbers[i % numbers.length] ?? 0) % 3 === 0)];
  const weigh = (i: number) => Math.sin((numbers[i % numbers.length] ?? 0) + i * 7919);
  return twice
    .map((event, i) => ({ event, weight: weigh(i) }))
    .sort((a, b) => a.weight - b.weight)
    .map(({ event }) => event);
}

async function deliverTogether(events: StripeEvent[], atATime: number): Promise<void> {
  for (let i = 0; i < events.length; i += atATime) await Promise.all(events.slice(i, i + atATime).map((event) => deliver(api, [event])));
}

async function checkOrders(story: Action[], orders: { early: boolean[]; shuffle: number[]; atATime: number }[]): Promise<void> {
  const inOrder = await makePayer(story);
  for (const action of story) await deliver(api, act(inOrder, action));
  const expected = await readEnd(inOrder);
  for (const { early, shuffle, atATime } of orders) {
    const payer = await makePayer(story);
    for (const [i, action] of story.entries()) {
      act(payer, action);
      if (early[i % early.length]) await deliverTogether(mixUp(payer.events, shuffle).slice(0, 3), atATime);
    }
    await deliverTogether(mixUp(payer.events, shuffle), atATime);
    const end = await readEnd(payer);
    if (inspect(end, { depth: 9 }) !== inspect(expected, { depth: 9 })) expect({ story, end }).toEqual({ story, end: expected });
    // Once more, and nothing changes.
    await deliverTogether(payer.events.slice(-6), 6);
    expect(await readEnd(payer)).toEqual(end);
  }
}

describe('callbacks in any order', { timeout: 300_000 }, () => {
  it.each<[Action[]]>([
    [['subscribeSolo', 'renew', 'failToRenew', 'payLate', 'changeToPro', 'cancel', 'end']],
    [['subscribeSolo', 'changeUnbilled', 'changeBack', 'renew', 'changeUnbilled', 'end']],
    [['saveCard', 'buyPack', 'subscribePro', 'cancel', 'subscribeSolo', 'end', 'removeCards', 'saveAnother']],
  ])('make the same of %j', async (story) => {
    await checkOrders(story, [
      { early: [false], shuffle: [9, 4, 77, 5], atATime: 1 },
      { early: [true, false], shuffle: [5, 12, 8], atATime: 4 },
    ]);
  });

  it('make the same of any story', async () => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    console.log(`callbacks in any order: SEED=${seed}`);
    const story = fc.array(fc.constantFrom(...(Object.keys(actions) as Action[])), { minLength: 4, maxLength: 9 });
    const property = fc.asyncProperty(story, fc.array(order, { minLength: 1, maxLength: 1 }), checkOrders);
    await fc.assert(property, { seed, numRuns: Number(process.env.RUNS ?? 3), endOnFailure: true });
  });
});

describe('a process that is killed', { timeout: 300_000 }, () => {
  it('after it has read what a callback is about leaves nothing half done', async () => {
    const payer = await makePayer(['subscribeSolo']);
    act(payer, 'subscribeSolo');
    const told = payer.events.filter(({ type }) => type === 'invoice.paid');
    const { databaseUrl } = api.config;
    const env = { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: inject('temporalAddress'), ...stripeEnv(started.stripe.url) };
    const other = await startApiProcess(env);
    const held = started.stripe.hold(/GET \/v1\/subscriptions$/);
    const lost = sendEvent({ fetch: (path, init) => fetch(`${other.url}${path}`, init) }, told[0] as StripeEvent).catch(() => null);
    await held.arrived;
    other.child.kill('SIGKILL');
    await other.ended;
    held.release();
    expect(await lost).toBeNull();
    const { account_id: accountId } = await readBilling(payer.person.client);
    expect(await readPayments(api, accountId)).toEqual([]);
    await deliver(api, [...told, ...told]);
    expect(await readPayments(api, accountId)).toHaveLength(1);
    expect(await readBilling(payer.person.client)).toMatchObject({ plan: 'solo', credits: { included: 3000 } });
  });
});
