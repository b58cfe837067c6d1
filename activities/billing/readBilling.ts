import type { OwedOverage } from '../../core/billing/overage.ts';
import { monthAround, type Period } from '../../core/billing/period.ts';
import type { Interval } from '../../core/credits/priceList.ts';
import type { Credits } from '../../core/credits/showCredits.ts';
import type { CardOnFile } from '../../schema/index.ts';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import { type BillingProfile, findProfile } from '../../store/pg/billing.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findMe } from '../../store/pg/me.ts';
import type { Services } from '../../store/services.ts';
import { lockAccount } from './lockAccount.ts';
import { type AutoTopup, describeTopup } from './orderTopup.ts';
import { readOverage } from './readOverage.ts';

interface PayingWallet {
  customerId: string | null;
  card: CardOnFile | null;
}

export interface BillingView {
  account: AccountRecord;
  credits: Credits;
  interval: Interval | null;
  period: Period;
  card: CardOnFile | null;
  sharesWith: string | null;
  autoTopup: AutoTopup;
  overage: OwedOverage;
}

/** Whose card pays: the account's own, or that of the one that it shares with. */
export async function findWallet({ db }: Services, profile: BillingProfile | null): Promise<PayingWallet> {
  const { sharesWith } = profile ?? {};
  // A key sees its own account alone, but may use the card.
  const payer = sharesWith ? await acrossAccounts(() => findProfile(db.orm, sharesWith)) : profile;
  return { customerId: payer?.customerId ?? null, card: payer?.card ?? null };
}

export async function readBilling(services: Services, account: AccountRecord): Promise<BillingView> {
  const { orm } = services.db;
  const [profile, credits] = await Promise.all([findProfile(orm, account.id), readCredits(services, account)]);
  const { card } = await findWallet(services, profile);
  return describeBilling({ account, profile }, { credits, card, overage: await readOverage(orm, account.id) });
}

export async function readCredits(services: Services, { id, ownerId }: AccountRecord): Promise<Credits> {
  return (await findMe(services.db, ownerId, id)).credits;
}

/**
 * The same at the end of a change. It is read on the connection of the transaction: when all of them are taken by transactions that
 * wait for a second one, none comes free.
 */
export async function readChangedBilling(tx: Tx, accountId: string, credits: Credits): Promise<BillingView> {
  const { account, profile } = await lockAccount(tx, accountId);
  const overage = await readOverage(tx.orm, accountId);
  const { sharesWith } = profile ?? {};
  if (sharesWith) await tx.admitAccount(sharesWith);
  const payer = sharesWith ? await findProfile(tx.orm, sharesWith) : profile;
  return describeBilling({ account, profile }, { credits, card: payer?.card ?? null, overage });
}

function describeBilling(
  { account, profile }: { account: AccountRecord; profile: BillingProfile | null },
  read: Pick<BillingView, 'credits' | 'card' | 'overage'>,
): BillingView {
  const { periodStart: start, periodEnd: end } = profile ?? {};
  return {
    account,
    ...read,
    interval: profile?.interval ?? null,
    period: start && end ? { start, end } : monthAround(new Date()),
    sharesWith: profile?.sharesWith ?? null,
    autoTopup: describeTopup(profile),
  };
}
