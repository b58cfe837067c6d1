import Stripe from 'stripe';
import { type Pack, packs } from '../../../core/credits/priceList.ts';
import { badSignature } from '../badSignature.ts';
import type { Callback, News, PaidPeriod } from '../provider.ts';
import { accountIn, ask, findThing, idOf, packField } from './client.ts';
import { planOfProduct } from './prices.ts';

const toleranceS = 300;

/** Null: a callback that changes nothing here. */
export function readCallback(stripe: Stripe, secret: string, raw: Uint8Array, signature: string | null): Callback | null {
  const event = verify(stripe, secret, raw, signature);
  const look = lookUps[event.type];
  const { object, previous_attributes: before } = (event.data ?? {}) as { object?: Pointer; previous_attributes?: Pointer };
  const id = object?.id;
  if (!look || typeof event.id !== 'string' || typeof id !== 'string') return null;
  // The customer of a card that was taken off it is in what was before.
  return { eventId: event.id, look: () => ask(() => look(stripe, id, idOf(object?.customer ?? before?.customer))) };
}

type SignedEvent = { type: string; id?: unknown; data?: object };

interface Pointer {
  id?: string;
  customer?: string | { id: string } | null;
}

function verify(stripe: Stripe, secret: string, raw: Uint8Array, signature: string | null): SignedEvent {
  try {
    return stripe.webhooks.constructEvent(Buffer.from(raw), signature ?? '', secret, toleranceS);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) throw badSignature();
    // Signed, but in a form that was not asked for.
    return { type: 'unknown' };
  }
}

/** Reads what a callback is about as it is now. What the callback itself says may be out of date. */
type LookUp = (stripe: Stripe, id: string, customerId: string | null) => Promise<News | null>;

const nothing = { accountId: null, customerId: null, paid: null, savedCard: false } satisfies News;

const ofCustomer: LookUp = async (_stripe, id) => ({ ...nothing, customerId: id });

const ofCard: LookUp = async (_stripe, _id, customerId) => (customerId ? { ...nothing, customerId } : null);

const ofSubscription: LookUp = async (stripe, id) => {
  const found = await findThing(stripe.subscriptions.retrieve(id));
  const accountId = accountIn(found?.metadata);
  return found && accountId ? { ...nothing, accountId, customerId: idOf(found.customer) } : null;
};

const ofInvoice: LookUp = async (stripe, id) => {
  const found = await findThing(stripe.invoices.retrieve(id));
  const accountId = accountIn(found?.parent?.subscription_details?.metadata);
  if (!found || !accountId) return null;
  const { status, billing_reason: reason, amount_paid: amount, currency, lines } = found;
  const customerId = idOf(found.customer);
  // A voucher may pay for a period. A change of plan that costs nothing is one that was paid back before.
  const isPaid = status === 'paid' && (amount > 0 || reason === 'subscription_create' || reason === 'subscription_cycle');
  if (!isPaid) return { ...nothing, accountId, customerId };
  const { data } = lines.has_more ? await stripe.invoices.listLineItems(id, { limit: 100 }) : lines;
  return { ...nothing, accountId, customerId, paid: { kind: 'subscription', period: readPaidPeriod(data), ref: id, amount, currency } };
};

/** The plan on a bill. What was charged and given back for changes of plan counts only where there is nothing else on it. */
function readPaidPeriod(lines: Stripe.InvoiceLineItem[]): PaidPeriod | null {
  const ours = lines.flatMap(({ amount, pricing, period, parent }) => {
    const plan = planOfProduct(pricing?.price_details?.product ?? null);
    const isChange = (parent?.subscription_item_details ?? parent?.invoice_item_details)?.proration ?? false;
    return plan && amount > 0 ? [{ plan, end: new Date(period.end * 1000), amount, isChange }] : [];
  });
  const [paid] = ours.sort((a, b) => Number(a.isChange) - Number(b.isChange) || b.amount - a.amount);
  return paid ? { plan: paid.plan, end: paid.end } : null;
}

const ofPayment: LookUp = async (stripe, id) => readPayment(await findThing(stripe.paymentIntents.retrieve(id)));

function readPayment(intent: Stripe.PaymentIntent | null): News | null {
  const accountId = accountIn(intent?.metadata);
  const pack = intent?.metadata[packField] ?? '';
  if (intent?.status !== 'succeeded' || !accountId || !Object.hasOwn(packs, pack)) return null;
  return { ...nothing, accountId, paid: { kind: 'topup', pack: pack as Pack, ref: intent.id } };
}

const ofSession: LookUp = async (stripe, id) => {
  const expand = ['payment_intent', 'setup_intent.payment_method'];
  const session = await findThing(stripe.checkout.sessions.retrieve(id, { expand }));
  const accountId = accountIn(session?.metadata);
  if (!session || !accountId || session.status !== 'complete') return null;
  if (session.mode === 'payment') return readPayment(session.payment_intent as Stripe.PaymentIntent | null);
  const customerId = idOf(session.customer);
  const method = (session.setup_intent as Stripe.SetupIntent | null)?.payment_method as Stripe.PaymentMethod | null | undefined;
  // One that was removed since is no card to pay with.
  const savedCard = customerId !== null && method?.card !== undefined && idOf(method.customer) === customerId;
  return { ...nothing, accountId, customerId, savedCard };
};

const lookUps: Partial<Record<string, LookUp>> = {
  'checkout.session.completed': ofSession,
  'checkout.session.async_payment_succeeded': ofSession,
  'customer.subscription.created': ofSubscription,
  'customer.subscription.updated': ofSubscription,
  'customer.subscription.deleted': ofSubscription,
  'invoice.paid': ofInvoice,
  'invoice.payment_failed': ofInvoice,
  'payment_intent.succeeded': ofPayment,
  'payment_intent.payment_failed': ofPayment,
  'payment_method.attached': ofCard,
  'payment_method.detached': ofCard,
  'customer.updated': ofCustomer,
  'customer.deleted': ofCustomer,
};
