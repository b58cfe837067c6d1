import { type Period, periodFrom } from '../../core/billing/period.ts';
import { planMonth } from '../../core/credits/planMonth.ts';
import { planUpgrade } from '../../core/credits/planUpgrade.ts';
import { currency, type Interval, type Pack, type PaidPlan, packs, subscriptionPrices } from '../../core/credits/priceList.ts';
import { cardRemoved, cardSaved, creditsBought, subscribed, unsubscribed } from '../../core/journal/billingNotes.ts';
import type { CardOnFile } from '../../schema/index.ts';
import { insertPayment, putProfile, setPlan } from '../../store/pg/billing.ts';
import { dropUnasked, retryCharges } from '../../store/pg/charges.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { countGranted, insertMovements, lockBooks } from '../../store/pg/credits.ts';
import { purchaseCredits } from '../credits/purchaseCredits.ts';
import { lockAccount } from './lockAccount.ts';
import { settleSubscription } from './settleSubscription.ts';
import { stopSharers } from './stopSharers.ts';

/*
 * What a payment provider tells, applied to the account. All of it runs inside a transaction and may be told twice.
 */

export interface Wallet {
  customerId: string;
  card: CardOnFile | null;
}

export interface PaidSubscription {
  plan: PaidPlan;
  interval: Interval;
  /** The payment of its first period. */
  ref: string;
  period?: Period;
}

/** A subscription has begun: the plan applies at once, and so do its credits. */
export async function applySubscription(tx: Tx, accountId: string, wallet: Wallet, paid: PaidSubscription): Promise<void> {
  const { plan, interval, ref } = paid;
  await lockAccount(tx, accountId);
  const amount = subscriptionPrices[plan][interval];
  if (!(await insertPayment(tx, { ref, accountId, kind: 'subscription', amount, currency, credits: 0 }))) return;
  const { start, end } = paid.period ?? periodFrom(tx.at, interval);
  await putProfile(tx, accountId, { ...wallet, sharesWith: null, interval, periodStart: start, periodEnd: end });
  await setPlan(tx, accountId, { plan, planStatus: 'active' });
  await grantPlan(tx, accountId, plan);
  tx.note(accountId, subscribed(accountId, plan, interval));
}

/** Grants this month's credits of a plan that the account has or has paid for, beyond those granted already. */
export async function grantPlan(tx: Tx, accountId: string, plan: PaidPlan): Promise<void> {
  const [books] = await lockBooks(tx, [accountId]);
  if (!books?.plan || !books.kind) return;
  // Whatever plan the account has by now: what was paid for decides, in whatever order that is told.
  const { month, movements } = planMonth({ ...books, plan, planStatus: 'active' }, tx.at);
  await insertMovements(tx, [{ accountId, movements }]);
  const upgrade = planUpgrade({ plan, kind: books.kind }, month, await countGranted(tx, accountId, month));
  if (upgrade) await insertMovements(tx, [{ accountId, movements: [upgrade] }]);
}

/** A card was saved: the free tier becomes pay-as-you-go, with auto-recharge on. */
export async function applyCard(tx: Tx, accountId: string, wallet: Wallet): Promise<void> {
  const { account } = await lockAccount(tx, accountId);
  const isFree = account.plan === 'free';
  await putProfile(tx, accountId, { ...wallet, sharesWith: null, paysByUsage: true, ...(isFree ? { autoTopup: true } : {}) });
  if (isFree) await setPlan(tx, accountId, { plan: 'payg', planStatus: account.planStatus });
  await retryCharges(tx, accountId);
  tx.note(accountId, cardSaved(accountId));
}

/** A pack was paid for. Returns how many credits it added: none if that was told before. */
export async function applyPack(tx: Tx, accountId: string, pack: Pack, ref: string): Promise<number> {
  const { credits, price } = packs[pack];
  await lockAccount(tx, accountId);
  if (!(await insertPayment(tx, { ref, accountId, kind: 'topup', amount: price, currency, credits }))) return 0;
  await purchaseCredits(tx, { accountId, ref, amount: credits });
  tx.note(accountId, creditsBought(accountId, credits, ref));
  return credits;
}

/**
 * The subscription will not be renewed; the plan stays until its period ends. A renewal that was declined is not tried again with
 * the next card; one whose outcome nobody heard may be paid, and is heard first.
 */
export async function applyCancellation(tx: Tx, accountId: string): Promise<void> {
  const { account, profile } = await lockAccount(tx, accountId);
  if (account.planStatus === 'none' || account.planStatus === 'canceled') return;
  await setPlan(tx, accountId, { plan: account.plan, planStatus: 'canceled' });
  tx.note(accountId, unsubscribed(accountId));
  await dropUnasked(tx, accountId, 'subscription');
  if (profile) await settleSubscription(tx, { ...account, planStatus: 'canceled' }, profile);
}

/** Without a card there is nothing to recharge, and no pay-as-you-go. */
export async function applyCardRemoval(tx: Tx, accountId: string): Promise<void> {
  const { account, profile } = await lockAccount(tx, accountId);
  if (!profile?.card && !profile?.sharesWith) return;
  await putProfile(tx, accountId, { card: null, sharesWith: null, paysByUsage: false, autoTopup: false });
  if (account.plan === 'payg') await setPlan(tx, accountId, { plan: 'free', planStatus: account.planStatus });
  tx.note(accountId, cardRemoved(accountId));
  await stopSharers(tx, accountId);
}
