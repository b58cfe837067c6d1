import { DomainError } from '../../core/errors.ts';
import { cardShared } from '../../core/journal/billingNotes.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { listOwnedAccounts } from '../../store/pg/accounts.ts';
import { putProfile, setPlan } from '../../store/pg/billing.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { lockAccount } from './lockAccount.ts';
import { requireUnsubscribed } from './requireUnsubscribed.ts';

/** A person's default account, which keys of their other accounts do not see. */
export async function findDefaultAccount({ db }: Services, ownerId: string): Promise<string> {
  const payer = (await acrossAccounts(() => listOwnedAccounts(db.orm, ownerId))).find(({ kind }) => kind === 'default');
  if (!payer) throw new Error(`${ownerId} has no default account`);
  return payer.id;
}

/**
 * Lets a developer account pay with the card of its owner's default account. With a card there, it is billed by usage at once. The
 * account that pays is locked first, as by whoever takes its card away.
 */
export async function reuseCard(tx: Tx, accountId: string, payerId: string): Promise<void> {
  await tx.admitAccount(payerId);
  const { profile: payer } = await lockAccount(tx, payerId);
  const { account } = await lockAccount(tx, accountId);
  if (account.kind === 'default')
    throw new DomainError('default-account', 'The default account has its own card.', 'Name a developer account as account_id.');
  requireUnsubscribed(account);
  const hasCard = (payer?.card ?? null) !== null;
  await putProfile(tx, accountId, { sharesWith: payerId, card: null, ...(hasCard ? { paysByUsage: true, autoTopup: true } : {}) });
  if (hasCard && account.plan === 'free') await setPlan(tx, accountId, { plan: 'payg', planStatus: account.planStatus });
  tx.note(accountId, cardShared(accountId, payerId));
}
