import { DomainError } from '../../core/errors.ts';
import { cardShared } from '../../core/journal/billingNotes.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { listOwnedAccounts } from '../../store/pg/accounts.ts';
import { findProfile, putProfile, setPlan } from '../../store/pg/billing.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { lockAccount } from './lockAccount.ts';
import { requireUnsubscribed } from './requireUnsubscribed.ts';

export interface DefaultWallet {
  accountId: string;
  hasCard: boolean;
}

/** Of a person's default account, which keys of their other accounts do not see. */
export async function findDefaultWallet({ db }: Services, ownerId: string): Promise<DefaultWallet> {
  return acrossAccounts(async () => {
    const payer = (await listOwnedAccounts(db.orm, ownerId)).find(({ kind }) => kind === 'default');
    if (!payer) throw new Error(`${ownerId} has no default account`);
    const profile = await findProfile(db.orm, payer.id);
    return { accountId: payer.id, hasCard: (profile?.card ?? null) !== null };
  });
}

/** Lets a developer account pay with the card of its owner's default account. With a card there, it is billed by usage at once. */
export async function reuseCard(tx: Tx, accountId: string, payer: DefaultWallet): Promise<void> {
  const { account } = await lockAccount(tx, accountId);
  if (account.kind === 'default')
    throw new DomainError('default-account', 'The default account has its own card.', 'Name a developer account as account_id.');
  requireUnsubscribed(account);
  const shared = { sharesWith: payer.accountId, card: null };
  await putProfile(tx, accountId, { ...shared, ...(payer.hasCard ? { paysByUsage: true, autoTopup: true } : {}) });
  if (payer.hasCard && account.plan === 'free') await setPlan(tx, accountId, { plan: 'payg', planStatus: account.planStatus });
  tx.note(accountId, cardShared(accountId, payer.accountId));
}
