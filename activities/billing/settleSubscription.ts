import { periodFrom } from '../../core/billing/period.ts';
import { planWithoutSubscription } from '../../core/billing/subscription.ts';
import { currency, renewalGraceDays, subscriptionPrices } from '../../core/credits/priceList.ts';
import { subscriptionEnded, subscriptionRenewed } from '../../core/journal/billingNotes.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import { type BillingProfile, putProfile, setPlan } from '../../store/pg/billing.ts';
import { hasOpenCharge, insertCharge } from '../../store/pg/charges.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { makeId } from '../../store/services.ts';

const graceMs = renewalGraceDays * 24 * 3_600_000;
const nameRenewal = (end: Date) => `renewal:${end.toISOString()}`;

/** Ends a subscription whose period is over, or makes its renewal due; for providers that leave that to the service. */
export async function settleSubscription(tx: Tx, account: AccountRecord, profile: BillingProfile): Promise<void> {
  const { plan, planStatus } = account;
  const { interval, periodEnd } = profile;
  if ((plan !== 'solo' && plan !== 'pro') || interval === null || periodEnd === null || periodEnd > tx.at) return;
  // One that is open may have been paid already: it is heard first.
  if (await hasOpenCharge(tx, account.id, 'subscription')) return;
  if (planStatus === 'canceled') return endSubscription(tx, account.id, profile);
  const amount = subscriptionPrices[plan][interval];
  const cause = nameRenewal(periodEnd);
  await insertCharge(tx, { id: makeId('chg'), accountId: account.id, kind: 'subscription', cause, credits: 0, amount, currency });
}

/** The next period was paid for. If that is over as well, the one after it is due at once. */
export async function renewSubscription(tx: Tx, account: AccountRecord, profile: BillingProfile, cause: string): Promise<void> {
  const { interval, periodEnd } = profile;
  if (interval === null || periodEnd === null || nameRenewal(periodEnd) !== cause) return;
  const { start, end } = periodFrom(periodEnd, interval);
  await putProfile(tx, account.id, { periodStart: start, periodEnd: end });
  const planStatus = account.planStatus === 'canceled' ? 'canceled' : 'active';
  await setPlan(tx, account.id, { plan: account.plan, planStatus });
  tx.note(account.id, subscriptionRenewed(account.id, end));
  await settleSubscription(tx, { ...account, planStatus }, { ...profile, periodStart: start, periodEnd: end });
}

/**
 * The renewal was declined. Returns false if that is the end of it: nobody wants the subscription, it was tried long enough, or there
 * is another one by now.
 */
export async function keepUnpaid(tx: Tx, account: AccountRecord, profile: BillingProfile, cause: string): Promise<boolean> {
  const { periodEnd } = profile;
  if (periodEnd === null || nameRenewal(periodEnd) !== cause) return false;
  const isGivenUp = tx.at.getTime() - periodEnd.getTime() > graceMs;
  if (account.planStatus === 'canceled' || isGivenUp) {
    await endSubscription(tx, account.id, profile);
    return false;
  }
  await setPlan(tx, account.id, { plan: account.plan, planStatus: 'past_due' });
  return true;
}

/** Back to pay-as-you-go where that was agreed to, else to the free plan. */
async function endSubscription(tx: Tx, accountId: string, profile: BillingProfile): Promise<void> {
  await putProfile(tx, accountId, { interval: null, periodStart: null, periodEnd: null });
  const plan = planWithoutSubscription(profile.paysByUsage);
  await setPlan(tx, accountId, { plan, planStatus: 'none' });
  tx.note(accountId, subscriptionEnded(accountId, plan));
}
