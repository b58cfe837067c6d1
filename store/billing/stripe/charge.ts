import Stripe from 'stripe';
import { DomainError } from '../../../core/errors.ts';
import type { Charge, ChargeOutcome } from '../provider.ts';
import { accountField, chargeTimeoutMs, findThing, hasCode, packField, readRefusal } from './client.ts';
import { findCard } from './customers.ts';

const keyField = 'workbook_charge';
const unexpectedState = 'payment_intent_unexpected_state';

/**
 * Charges the card without the person being there. A payment intent succeeds at most once, so there is one for each key, which
 * is looked for first: Stripe forgets idempotency keys after a day.
 */
export async function chargeCard(stripe: Stripe, charge: Charge): Promise<ChargeOutcome> {
  const intent = (await findIntent(stripe, charge)) ?? (await makeIntent(stripe, charge));
  if ('refused' in intent) return { outcome: 'declined', reason: intent.refused };
  const ended = describeEnd(intent);
  if (ended) return ended;
  const card = await findCard(stripe, charge.customerId);
  if (!card) return decline(stripe, intent, 'no card');
  try {
    const options = { idempotencyKey: `confirm:${charge.key}:${card.id}`, timeout: chargeTimeoutMs };
    const confirmed = await stripe.paymentIntents.confirm(intent.id, { payment_method: card.id, off_session: true }, options);
    // Whatever the bank wants the person to do, the person is not there.
    return describeEnd(confirmed) ?? (await decline(stripe, confirmed, 'authentication required'));
  } catch (error) {
    if (error instanceof Stripe.errors.StripeCardError) return decline(stripe, intent, error.decline_code ?? error.code ?? 'declined');
    const refused = hasCode(error, unexpectedState) ? null : readRefusal(error);
    return refused === null ? settleRace(stripe, intent, error) : decline(stripe, intent, refused);
  }
}

async function findIntent(stripe: Stripe, { customerId, key }: Charge): Promise<Stripe.PaymentIntent | null> {
  const found = await findThing(stripe.paymentIntents.list({ customer: customerId, limit: 100 }));
  return found?.data.find(({ metadata }) => metadata[keyField] === key) ?? null;
}

/** `refused`: why Stripe does not make one, however often it is asked. */
async function makeIntent(stripe: Stripe, charge: Charge): Promise<Stripe.PaymentIntent | { refused: string }> {
  const { customerId, accountId, amount, currency, description, key, pack } = charge;
  const metadata = { [accountField]: accountId, [keyField]: key, ...(pack ? { [packField]: pack } : {}) };
  // Nothing that would lead the person to another page.
  const methods = { automatic_payment_methods: { enabled: true, allow_redirects: 'never' } } as const;
  const params = { customer: customerId, amount, currency, description, metadata, ...methods };
  try {
    return await stripe.paymentIntents.create(params, { idempotencyKey: `charge:${key}` });
  } catch (error) {
    const refused = readRefusal(error);
    if (refused === null) throw error;
    return { refused };
  }
}

/** Null: the card has not been asked yet, or said no to an earlier try. */
function describeEnd({ id, status, last_payment_error }: Stripe.PaymentIntent): ChargeOutcome | null {
  if (status === 'succeeded') return { outcome: 'paid', ref: id };
  if (status === 'canceled')
    return { outcome: 'declined', reason: last_payment_error?.decline_code ?? last_payment_error?.code ?? 'declined' };
  if (status === 'processing')
    throw new DomainError('unavailable', 'The payment is still under way.', 'Ask again in a minute.', { headers: { 'Retry-After': '60' } });
  return null;
}

/** For good: a repetition must not charge later what was told to be declined. */
async function decline(stripe: Stripe, intent: Stripe.PaymentIntent, reason: string): Promise<ChargeOutcome> {
  try {
    await stripe.paymentIntents.cancel(intent.id);
    return { outcome: 'declined', reason };
  } catch (error) {
    return settleRace(stripe, intent, error);
  }
}

/** The same charge, asked for twice at a time, may have ended meanwhile. */
async function settleRace(stripe: Stripe, { id }: Stripe.PaymentIntent, error: unknown): Promise<ChargeOutcome> {
  if (!hasCode(error, unexpectedState)) throw error;
  const ended = describeEnd(await stripe.paymentIntents.retrieve(id));
  if (ended) return ended;
  throw error;
}
