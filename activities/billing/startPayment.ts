import { currency, type Pack, packs } from '../../core/credits/priceList.ts';
import type { Order, PaymentPage } from '../../store/billing/provider.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import { findProfile } from '../../store/pg/billing.ts';
import { sha256 } from '../../store/secrets.ts';
import { makeId, type Services } from '../../store/services.ts';
import { findWallet } from './readBilling.ts';

export async function openCheckout(
  services: Services,
  account: AccountRecord,
  order: Order,
  urls: { success?: string | null | undefined; cancel?: string | null | undefined } = {},
): Promise<PaymentPage> {
  const profile = await findProfile(services.db.orm, account.id);
  // Credits are paid for by whoever pays; a card and a subscription are the account's own.
  const payer = order.kind === 'topup' ? await findWallet(services, profile) : profile;
  return services.payments.openCheckout({
    accountId: account.id,
    customerId: payer?.customerId ?? null,
    order,
    successUrl: urls.success ?? null,
    cancelUrl: urls.cancel ?? null,
  });
}

/** A card that is shared is changed by the person alone: a key of this account has no say in the other one. */
export async function openPortal(
  services: Services,
  account: AccountRecord,
  returnUrl: string | null,
  isSession: boolean,
): Promise<PaymentPage> {
  const profile = await findProfile(services.db.orm, account.id);
  const payer = isSession ? await findWallet(services, profile) : profile;
  return services.payments.openPortal({ accountId: account.id, customerId: payer?.customerId ?? null, returnUrl });
}

/**
 * Charges a pack to the card on file; a repeated request is charged once. The key is that of the caller and the pack: whoever else
 * uses the same one asks for something else. Null: there is no card, or it was declined.
 */
export async function chargePack(
  services: Services,
  account: AccountRecord,
  pack: Pack,
  request: { key: string | null; credentialId: string },
): Promise<string | null> {
  const { customerId, card } = await findWallet(services, await findProfile(services.db.orm, account.id));
  if (customerId === null || card === null) return null;
  const scope = `charge\n${account.id}\n${request.credentialId}\n${pack}\n`;
  const key = request.key === null ? makeId('evt') : sha256(scope, request.key).toString('hex');
  const { credits, price } = packs[pack];
  const charge = { accountId: account.id, customerId, amount: price, currency, description: `${credits} credits`, key, pack };
  const charged = await services.payments.charge(charge);
  return charged.outcome === 'paid' ? charged.ref : null;
}
