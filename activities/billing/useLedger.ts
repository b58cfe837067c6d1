import type { Credits } from '../../core/credits/showCredits.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import type { CardOnFile } from '../../schema/index.ts';
import { hashSessionId, ledgerCustomer } from '../../store/billing/ledger.ts';
import { acrossAccounts, inAccount } from '../../store/pg/accountScope.ts';
import { findAccount } from '../../store/pg/accounts.ts';
import { type BillingSession, endBillingSession, findBillingSession } from '../../store/pg/billing.ts';
import type { Actor, Tx } from '../../store/pg/commit.ts';
import { makeId, type Services } from '../../store/services.ts';
import { applyCancellation, applyCard, applyCardRemoval, applyPack, applySubscription } from './applyPayment.ts';
import { type BillingView, readBilling, readChangedBilling } from './readBilling.ts';

/** The card of people who pay nothing. */
const ledgerCard = (at: Date, last4: string): CardOnFile => ({ brand: 'ledger', last4, expMonth: 12, expYear: at.getUTCFullYear() + 5 });

export const pageActor = (requestId: string): Actor => ({ name: 'billing page', userId: null, credential: 'none', requestId });

/** Works on the page that an id stands for. Others have no such pages. */
export async function withSession<T>(
  services: Services,
  sessionId: string,
  place: 'checkout' | 'portal',
  work: (session: BillingSession) => Promise<T>,
): Promise<T> {
  const session = await acrossAccounts(() => findBillingSession(services.db.orm, hashSessionId(sessionId)));
  if (!session || services.payments.name !== 'ledger' || (session.kind === 'portal') !== (place === 'portal'))
    throw notFound('payment page', 'It may have expired, or its account was deleted. Ask for a new one where you came from.');
  if (session.expiresAt <= new Date()) throw new DomainError('expired', 'This page has expired.', 'Ask for a new one where you came from.');
  return inAccount(session.accountId, async () => {
    if (!(await findAccount(services.db.orm, session.accountId)))
      throw new DomainError('not-found', 'The account that this page is about was deleted.', 'There is nothing to pay.');
    return work(session);
  });
}

/** The account that a page is about, and how it pays. */
export async function readSessionBilling(services: Services, { accountId }: BillingSession): Promise<BillingView> {
  const account = await findAccount(services.db.orm, accountId);
  if (!account) throw notFound('payment page');
  return readBilling(services, account);
}

export type CheckoutAction = 'confirm' | 'confirm_declined' | 'cancel';

/** What the buttons of a checkout page do, once. */
export async function completeCheckout(tx: Tx, session: BillingSession, action: CheckoutAction): Promise<void> {
  if (!(await endBillingSession(tx, session.idHash, action === 'cancel' ? 'canceled' : 'completed')))
    throw new DomainError('in-use', 'This page was completed already.', 'Ask for a new one where you came from.');
  if (action === 'cancel') return;
  const { accountId, kind, plan, interval, pack } = session;
  const isDeclined = action === 'confirm_declined';
  const wallet = {
    customerId: ledgerCustomer(accountId, isDeclined ? 'declined' : 'pays'),
    card: ledgerCard(tx.at, isDeclined ? '0002' : '0000'),
  };
  const ref = `ledger_${makeId('evt')}`;
  if (kind === 'setup') await applyCard(tx, accountId, wallet);
  else if (isDeclined)
    throw new DomainError('validation-failed', 'This card is declined.', 'Press another button; only saving a card can be tried with it.');
  else if (kind === 'topup' && pack) await applyPack(tx, accountId, pack, ref);
  else if (plan && interval) await applySubscription(tx, accountId, wallet, { plan, interval, ref });
}

/** What the buttons of the portal do. Returns what the page shows then. */
export async function submitPortal(
  tx: Tx,
  { accountId }: BillingSession,
  action: 'cancel_subscription' | 'remove_card' | 'return',
  credits: Credits,
): Promise<BillingView> {
  if (action === 'cancel_subscription') await applyCancellation(tx, accountId);
  if (action === 'remove_card') await applyCardRemoval(tx, accountId);
  return readChangedBilling(tx, accountId, credits);
}
