import { DomainError } from '../../core/errors.ts';
import type { Callback, News } from '../../store/billing/provider.ts';
import { acrossAccounts, inAccount } from '../../store/pg/accountScope.ts';
import { findAccount } from '../../store/pg/accounts.ts';
import { findCustomersAccount, findProfile, hasBillingEvent, insertBillingEvent, lockBilling } from '../../store/pg/billing.ts';
import { type Actor, commit, type Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { applyNews, type FreshState } from './applyNews.ts';

const mostTries = 5;

/** Takes a callback of the payment provider: `bad-signature` unless it is one. Each is applied once, in whatever order they come. */
export async function receiveCallback(services: Services, raw: Uint8Array, signature: string | null, requestId: string): Promise<void> {
  const callback = services.payments.readCallback(raw, signature);
  if (!callback || (await acrossAccounts(() => hasBillingEvent(services.db.orm, callback.eventId)))) return;
  const news = await callback.look();
  const accountId = news && (await findConcerned(services, news));
  if (!news || !accountId) return;
  const actor: Actor = { name: 'payment provider', userId: null, credential: 'none', requestId };
  await inAccount(accountId, () => apply(services, actor, accountId, callback, news));
}

/** The account that it is about. Null: one that is not there any more, or a customer of somebody else. */
async function findConcerned({ db }: Services, { accountId, customerId }: News): Promise<string | null> {
  return acrossAccounts(async () => {
    if (accountId) return (await findAccount(db.orm, accountId))?.id ?? null;
    return customerId ? findCustomersAccount(db.orm, customerId) : null;
  });
}

/** What was read of the provider is written unless something newer was written meanwhile: then it is read again. */
async function apply(services: Services, actor: Actor, accountId: string, { eventId }: Callback, news: News): Promise<void> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const before = await findProfile(services.db.orm, accountId);
    const state = await readState(services, accountId, news);
    const { result } = await commit(services, actor, async (tx: Tx) => {
      const found = await lockBilling(tx, accountId);
      // Its deletion has begun meanwhile.
      if (!found) return 'done';
      const { account, profile } = found;
      if (state && (profile?.providerReads ?? 0) !== (before?.providerReads ?? 0)) return 'outdated';
      if (await insertBillingEvent(tx, { eventId, accountId })) await applyNews(tx, { account, profile }, news, state);
      return 'done';
    });
    if (result === 'done') return;
  }
  throw new DomainError('unavailable', 'Too many callbacks about one customer come at once.', 'Send it again.');
}

async function readState({ payments }: Services, accountId: string, { customerId }: News): Promise<FreshState | null> {
  return customerId === null ? null : { customerId, ...(await payments.readCustomer(customerId, accountId)) };
}
