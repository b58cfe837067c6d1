import type Stripe from 'stripe';
import type { Subscription } from '../../../core/billing/subscription.ts';
import type { CardOnFile } from '../../../schema/index.ts';
import type { CustomerState } from '../provider.ts';
import { accountField, accountIn, findThing, idOf } from './client.ts';
import { planOfProduct } from './prices.ts';

/** One customer for each account, also when it is asked for twice. `replaced`: the one that it had before. */
export async function makeCustomer(stripe: Stripe, accountId: string, replaced: string | null): Promise<string> {
  const idempotencyKey = `customer:${accountId}:${replaced ?? 'first'}`;
  const { id } = await stripe.customers.create({ metadata: { [accountField]: accountId } }, { idempotencyKey });
  return id;
}

/** The card that pays: the one that the person chose in the portal, or else the one saved last. */
export async function findCard(stripe: Stripe, customerId: string): Promise<Stripe.PaymentMethod | null> {
  const [customer, cards] = await Promise.all([
    findThing(stripe.customers.retrieve(customerId, { expand: ['invoice_settings.default_payment_method'] })),
    findThing(stripe.paymentMethods.list({ customer: customerId, type: 'card', limit: 1 })),
  ]);
  if (!customer || customer.deleted) return null;
  const chosen = customer.invoice_settings.default_payment_method;
  return chosen && typeof chosen === 'object' && chosen.card ? chosen : (cards?.data[0] ?? null);
}

export async function readCustomer(stripe: Stripe, customerId: string, accountId: string): Promise<CustomerState> {
  const [card, subscriptions] = await Promise.all([
    findCard(stripe, customerId),
    findThing(stripe.subscriptions.list({ customer: customerId, limit: 100 })),
  ]);
  const own = (subscriptions?.data ?? []).filter(({ metadata }) => accountIn(metadata) === accountId);
  return { card: describeCard(card), subscription: chooseSubscription(own) };
}

function describeCard(method: Stripe.PaymentMethod | null): CardOnFile | null {
  const { card } = method ?? {};
  return card ? { brand: card.brand, last4: card.last4, expMonth: card.exp_month, expYear: card.exp_year } : null;
}

/** Best first. Of several, the one that serves the person best counts. */
const ranks: Subscription['status'][] = ['active', 'trialing', 'past_due', 'canceled'];

function chooseSubscription(all: Stripe.Subscription[]): Subscription | null {
  const known = all.flatMap((one) => {
    const read = readSubscription(one);
    return read ? [{ read, created: one.created }] : [];
  });
  known.sort((a, b) => ranks.indexOf(a.read.status) - ranks.indexOf(b.read.status) || b.created - a.created);
  return known[0]?.read ?? null;
}

/** Null: it is over, was never paid, or is about something else. */
function readSubscription({ status, items, cancel_at, cancel_at_period_end }: Stripe.Subscription): Subscription | null {
  const [item] = items.data;
  const plan = planOfProduct(idOf(item?.price.product));
  const ours = statuses[status];
  if (!item || !plan || !ours) return null;
  const isEnding = (cancel_at_period_end || cancel_at !== null) && (ours === 'active' || ours === 'trialing');
  return {
    plan,
    interval: item.price.recurring?.interval === 'year' ? 'annual' : 'monthly',
    status: isEnding ? 'canceled' : ours,
    isTrial: ours === 'trialing',
    period: { start: new Date(item.current_period_start * 1000), end: new Date(item.current_period_end * 1000) },
  };
}

/** Those not named here have not begun or are over. */
const statuses: Partial<Record<Stripe.Subscription.Status, Subscription['status']>> = {
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  paused: 'past_due',
};
