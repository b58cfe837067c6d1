import Stripe from 'stripe';
import { accountIn, findThing, hasCode } from './client.ts';

/**
 * Ends what was begun for an account and could still be paid: open pages, and subscriptions, whatever their state. The account's pages may
 * be those of the customer whose card it shares, of which nothing else is touched.
 */
export async function endAccount(stripe: Stripe, accountId: string, customerIds: string[], onEnded: () => void): Promise<void> {
  for (const customer of customerIds) {
    await unlessUnknown(async () => {
      for await (const page of stripe.checkout.sessions.list({ customer, status: 'open', limit: 100 })) {
        if (accountIn(page.metadata) === accountId) await expirePage(stripe, page.id);
        onEnded();
      }
      for await (const { id, metadata } of stripe.subscriptions.list({ customer, limit: 100 })) {
        if (accountIn(metadata) === accountId) await findThing(stripe.subscriptions.cancel(id));
        onEnded();
      }
    });
  }
}

/** It may have been completed or have expired a moment ago. */
async function expirePage(stripe: Stripe, id: string): Promise<void> {
  try {
    await stripe.checkout.sessions.expire(id);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    if ((await findThing(stripe.checkout.sessions.retrieve(id)))?.status === 'open') throw error;
  }
}

/** A customer that Stripe does not know has nothing there. */
async function unlessUnknown(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, 'resource_missing')) throw error;
  }
}
