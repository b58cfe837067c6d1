import type Stripe from 'stripe';
import { currency, type Interval, type PaidPlan, subscriptionPrices } from '../../../core/credits/priceList.ts';
import { hasCode } from './client.ts';

/** Plans are products of these ids, whatever their prices. */
const products: Record<PaidPlan, { id: string; name: string }> = {
  solo: { id: 'workbook_solo', name: 'Solo' },
  pro: { id: 'workbook_pro', name: 'Pro' },
};

const recurring = { monthly: 'month', annual: 'year' } as const satisfies Record<Interval, string>;

export function planOfProduct(productId: string | null): PaidPlan | null {
  return (Object.keys(products) as PaidPlan[]).find((plan) => products[plan].id === productId) ?? null;
}

/** The price at Stripe that is the one of the price list. It is made where there is none; subscriptions that run keep theirs. */
export async function findPrice(stripe: Stripe, plan: PaidPlan, interval: Interval): Promise<string> {
  const { id: product, name } = products[plan];
  const amount = subscriptionPrices[plan][interval];
  const lookupKey = `${product}_${interval}`;
  const { data } = await stripe.prices.list({ lookup_keys: [lookupKey], active: true, limit: 1 });
  const [known] = data;
  if (known?.unit_amount === amount && known.currency === currency && known.product === product) return known.id;
  await makeProduct(stripe, product, name);
  const made = await stripe.prices.create(
    {
      product,
      currency,
      unit_amount: amount,
      recurring: { interval: recurring[interval] },
      lookup_key: lookupKey,
      transfer_lookup_key: true,
    },
    { idempotencyKey: `price:${lookupKey}:${amount}:${currency}:${known?.id ?? 'first'}` },
  );
  return made.id;
}

async function makeProduct(stripe: Stripe, id: string, name: string): Promise<void> {
  try {
    await stripe.products.create({ id, name }, { idempotencyKey: `product:${id}` });
  } catch (error) {
    if (!hasCode(error, 'resource_already_exists')) throw error;
  }
}
