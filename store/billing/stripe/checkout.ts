import type Stripe from 'stripe';
import { currency, packs } from '../../../core/credits/priceList.ts';
import type { Order } from '../provider.ts';
import { accountField, packField } from './client.ts';
import { findPrice } from './prices.ts';

/** The part of a checkout session that depends on what is bought. */
export async function describeOrder(stripe: Stripe, accountId: string, order: Order): Promise<Stripe.Checkout.SessionCreateParams> {
  const metadata = { [accountField]: accountId };
  if (order.kind === 'setup') return { mode: 'setup', currency, metadata };
  if (order.kind === 'subscription') {
    const price = await findPrice(stripe, order.plan, order.interval);
    return { mode: 'subscription', line_items: [{ price, quantity: 1 }], subscription_data: { metadata }, metadata };
  }
  const { credits, price: unit_amount } = packs[order.pack];
  const name = `${credits} credits`;
  return {
    mode: 'payment',
    line_items: [{ price_data: { currency, unit_amount, product_data: { name } }, quantity: 1 }],
    payment_intent_data: { description: name, metadata: { ...metadata, [packField]: order.pack } },
    metadata,
  };
}
