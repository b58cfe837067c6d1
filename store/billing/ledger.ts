import { randomBytes } from 'node:crypto';
import { insertBillingSession } from '../pg/billing.ts';
import { sha256 } from '../secrets.ts';
import { badSignature } from './badSignature.ts';
import type { PaymentPage, PaymentProvider } from './provider.ts';

const goodForMs = 3_600_000;

/** Customers of the embedded provider. A card that is declined lets people see what comes of that. */
export const ledgerCustomer = (accountId: string, card: 'pays' | 'declined'): string => `ledger_${card}_${accountId}`;

export const hashSessionId = (id: string): Buffer => sha256('billing session\n', id);

/** The embedded provider: pages of the service itself, a pretended card, and no money. */
export function openLedger({ publicUrl }: { publicUrl: string }): PaymentProvider {
  const makePage = (
    prefix: 'cs' | 'ps',
    fields: Omit<Parameters<typeof insertBillingSession>[1], 'idHash' | 'createdAt' | 'expiresAt'>,
  ) => {
    const sessionId = `${prefix}_${randomBytes(24).toString('base64url')}`;
    const place = prefix === 'cs' ? 'checkout' : 'portal';
    return Promise.resolve<PaymentPage>({
      url: `${publicUrl}/api/control/billing/${place}/${sessionId}`,
      sessionId,
      keep: (tx) => {
        const times = { createdAt: tx.at, expiresAt: new Date(tx.at.getTime() + goodForMs) };
        return insertBillingSession(tx, { idHash: hashSessionId(sessionId), ...fields, ...times });
      },
    });
  };
  return {
    name: 'ledger',
    renewsItself: false,
    openCheckout: ({ accountId, order, successUrl, cancelUrl }) => makePage('cs', { accountId, ...order, successUrl, cancelUrl }),
    openPortal: ({ accountId, returnUrl }) => makePage('ps', { accountId, kind: 'portal', cancelUrl: returnUrl }),
    charge: ({ customerId, key }) =>
      Promise.resolve(
        customerId.startsWith(ledgerCustomer('', 'declined'))
          ? { outcome: 'declined', reason: 'card_declined' }
          : { outcome: 'paid', ref: `ledger_${key}` },
      ),
    // It sends none.
    readCallback() {
      throw badSignature();
    },
    readCustomer: () => Promise.resolve({ card: null, subscription: null }),
    // Its pages and subscriptions are the service's own, and go with the account.
    endAccount: () => Promise.resolve(),
  };
}
