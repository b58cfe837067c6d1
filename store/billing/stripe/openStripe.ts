import type { StripeConfig } from '../../config.ts';
import { putProfile } from '../../pg/billing.ts';
import type { PaymentPage, PaymentProvider } from '../provider.ts';
import { readCallback } from './callbacks.ts';
import { chargeCard } from './charge.ts';
import { describeOrder } from './checkout.ts';
import { ask, isMissing, makeClient } from './client.ts';
import { makeCustomer, readCustomer } from './customers.ts';
import { endAccount } from './endAccount.ts';

/** As long as the pages of the embedded provider. */
const goodForS = 3600;

/** Stripe: its own pages take the cards, and its callbacks tell what happened. */
export function openStripe(config: StripeConfig, { publicUrl }: { publicUrl: string }): PaymentProvider {
  const stripe = makeClient(config);
  const makePage = async (
    accountId: string,
    known: string | null,
    open: (customer: string) => Promise<{ id: string; url: string | null }>,
  ): Promise<PaymentPage> => {
    const { id, url, customer } = await openFor(accountId, known, async (one) => ({ ...(await open(one)), customer: one }));
    if (url === null) throw new Error('Stripe opened a page without an address');
    const keep = async (tx: Parameters<PaymentPage['keep']>[0]) => {
      if (customer !== known) await putProfile(tx, accountId, { customerId: customer });
    };
    return { url, sessionId: id, keep };
  };
  /** A customer that Stripe does not know, or not any more, is replaced: an operator may have deleted it there. */
  const openFor = async <T>(accountId: string, known: string | null, open: (customer: string) => Promise<T>): Promise<T> => {
    try {
      if (known !== null) return await open(known);
    } catch (error) {
      if (!isMissing(error, 'customer')) throw error;
    }
    return open(await makeCustomer(stripe, accountId, known));
  };
  return {
    name: 'stripe',
    renewsItself: true,
    openCheckout: ({ accountId, customerId, order, successUrl, cancelUrl }) =>
      ask(() =>
        makePage(accountId, customerId, async (customer) =>
          stripe.checkout.sessions.create({
            ...(await describeOrder(stripe, accountId, order)),
            customer,
            client_reference_id: accountId,
            expires_at: Math.floor(Date.now() / 1000) + goodForS,
            success_url: successUrl ?? `${publicUrl}/`,
            ...(cancelUrl === null ? {} : { cancel_url: cancelUrl }),
          }),
        ),
      ),
    openPortal: ({ accountId, customerId, returnUrl }) =>
      ask(() =>
        makePage(accountId, customerId, (customer) =>
          stripe.billingPortal.sessions.create({ customer, return_url: returnUrl ?? `${publicUrl}/` }),
        ),
      ),
    charge: (charge) => ask(() => chargeCard(stripe, charge)),
    readCallback: (raw, signature) => readCallback(stripe, config.webhookSecret, raw, signature),
    readCustomer: (customerId, accountId) => ask(() => readCustomer(stripe, customerId, accountId)),
    endAccount: ({ accountId, customerIds, onEnded }) => ask(() => endAccount(stripe, accountId, customerIds, onEnded)),
  };
}
