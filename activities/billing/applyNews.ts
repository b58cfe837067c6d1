import { isUnsubscribed, planWithoutSubscription, type Subscription } from '../../core/billing/subscription.ts';
import type { Plan } from '../../core/credits/priceList.ts';
import {
  cardRemoved,
  cardSaved,
  subscribed,
  subscriptionEnded,
  subscriptionRenewed,
  unsubscribed,
} from '../../core/journal/billingNotes.ts';
import type { CardOnFile } from '../../schema/index.ts';
import type { CustomerState, News } from '../../store/billing/provider.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import { type BillingProfile, insertPayment, putProfile, setPlan } from '../../store/pg/billing.ts';
import { retryCharges } from '../../store/pg/charges.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { applyPack, grantPlan } from './applyPayment.ts';
import { stopSharers } from './stopSharers.ts';

/** What the provider knows of a customer, as it was just read. */
export type FreshState = CustomerState & { customerId: string };

interface Billed {
  account: AccountRecord;
  profile: BillingProfile | null;
}

/**
 * Brings an account to what its payment provider says. The account is what the provider's state makes of it, however it came
 * about; money is booked under the provider's name for the payment. So the order of callbacks does not matter.
 */
export async function applyNews(tx: Tx, billed: Billed, news: News, state: FreshState | null): Promise<void> {
  const { id: accountId } = billed.account;
  const { paid } = news;
  if (paid?.kind === 'topup') await applyPack(tx, accountId, paid.pack, paid.ref);
  if (state) await applyState(tx, billed, state, news.savedCard);
  if (paid?.kind !== 'subscription') return;
  const { period, ref, amount, currency } = paid;
  const isNew = await insertPayment(tx, { ref, accountId, kind: 'subscription', amount, currency, credits: 0 });
  // What was paid for is granted, also if the subscription has ended by now, but not if what was paid for is over.
  if (period && isNew && period.end > tx.at) await grantPlan(tx, accountId, period.plan);
}

async function applyState(tx: Tx, { account, profile }: Billed, state: FreshState, savedCard: boolean): Promise<void> {
  const { subscription, customerId } = state;
  const isOwnCustomer = (profile?.customerId ?? customerId) === customerId;
  if (!isOwnCustomer) return;
  const sharesWith = savedCard || subscription ? null : (profile?.sharesWith ?? null);
  const card = sharesWith ? null : state.card;
  const lostCard = !sharesWith && !card && (profile?.card ?? null) !== null;
  const beginsUsage = savedCard && card !== null && !profile?.paysByUsage;
  const paysByUsage = beginsUsage || (!lostCard && (profile?.paysByUsage ?? false));
  await putProfile(tx, account.id, {
    customerId,
    sharesWith,
    card,
    paysByUsage,
    autoTopup: beginsUsage || (!lostCard && (profile?.autoTopup ?? false)),
    interval: subscription?.interval ?? null,
    periodStart: subscription?.period.start ?? null,
    periodEnd: subscription?.period.end ?? null,
    providerReads: (profile?.providerReads ?? 0) + 1,
  });
  const plan = subscription?.plan ?? planWithoutSubscription(paysByUsage);
  // Without a subscription it may owe for its usage.
  const planStatus = subscription?.status ?? (isUnsubscribed(account) ? account.planStatus : 'none');
  await setPlan(tx, account.id, { plan, planStatus });
  // Otherwise what was paid grants it: a plan can be changed there and back for next to nothing.
  if (subscription?.isTrial) await grantPlan(tx, account.id, subscription.plan);
  if (card && !isSameCard(card, profile?.card ?? null)) await retryCharges(tx, account.id);
  if (card && !profile?.card) tx.note(account.id, cardSaved(account.id));
  noteSubscription(tx, { account, profile }, subscription, plan);
  if (!lostCard) return;
  tx.note(account.id, cardRemoved(account.id));
  await stopSharers(tx, account.id);
}

function noteSubscription(tx: Tx, { account, profile }: Billed, now: Subscription | null, plan: Plan): void {
  const { id, planStatus } = account;
  const had = !isUnsubscribed(account);
  if (!now) {
    if (had) tx.note(id, subscriptionEnded(id, plan));
  } else if (now.status === 'canceled') {
    if (had && planStatus !== 'canceled') tx.note(id, unsubscribed(id));
  } else if (now.plan !== account.plan || planStatus === 'canceled') tx.note(id, subscribed(id, now.plan, now.interval));
  else if (profile?.periodEnd && now.period.end > profile.periodEnd) tx.note(id, subscriptionRenewed(id, now.period.end));
}

const isSameCard = (one: CardOnFile, other: CardOnFile | null) =>
  one.last4 === other?.last4 && one.brand === other.brand && one.expMonth === other.expMonth && one.expYear === other.expYear;
