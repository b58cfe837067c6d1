import { isUnsubscribed } from '../../core/billing/subscription.ts';
import { autoTopupDeclined, creditsBought, overageSettled, paymentDeclined } from '../../core/journal/billingNotes.ts';
import { insertPayment, putProfile, setPlan } from '../../store/pg/billing.ts';
import { type ChargeRecord, lockCharge, updateCharge } from '../../store/pg/charges.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { purchaseCredits } from '../credits/purchaseCredits.ts';
import { lockAccount } from './lockAccount.ts';
import { keepUnpaid, renewSubscription } from './settleSubscription.ts';

/**
 * Books a charge that was paid, with what was paid for, once. Locks the account first, as others do who change its charges. The
 * charge is closed last: a reservation, which has locked the books, waits for whoever is closing one.
 */
export async function bookCharge(tx: Tx, charge: ChargeRecord, ref: string): Promise<void> {
  const { id, accountId, kind, amount, currency, credits } = charge;
  const { account, profile } = await lockAccount(tx, accountId);
  if ((await lockCharge(tx, id))?.status !== 'open') return;
  await insertPayment(tx, { ref, accountId, kind, amount, currency, credits });
  if (kind === 'auto_topup') {
    await purchaseCredits(tx, { accountId, ref, amount: credits });
    tx.note(accountId, creditsBought(accountId, credits, ref));
  } else if (kind === 'settlement') {
    await putProfile(tx, accountId, { arrears: Math.max(0, (profile?.arrears ?? 0) - credits) });
    if (isUnsubscribed(account) && account.planStatus === 'past_due')
      await setPlan(tx, accountId, { plan: account.plan, planStatus: 'none' });
    tx.note(accountId, overageSettled(accountId, credits, ref));
  }
  await updateCharge(tx, id, { status: 'paid' });
  if (kind === 'subscription' && profile) await renewSubscription(tx, account, profile, charge.cause);
}

/** A recharge is given up and switched off; what is owed stays due, and the account is past due. */
export async function declineCharge(tx: Tx, charge: ChargeRecord, reason: string): Promise<void> {
  const { id, accountId, kind, declines, customerId, cause } = charge;
  const { account, profile } = await lockAccount(tx, accountId);
  const current = await lockCharge(tx, id);
  // Somebody else has heard of it, or has begun to ask.
  if (current?.status !== 'open' || current.declines !== declines || current.customerId !== customerId) return;
  let staysDue = false;
  if (kind === 'auto_topup') await putProfile(tx, accountId, { autoTopup: false });
  else if (kind === 'subscription') staysDue = profile !== null && (await keepUnpaid(tx, account, profile, cause));
  else {
    staysDue = true;
    // A subscription that runs has a status of its own, and no overage that could grow.
    if (isUnsubscribed(account)) await setPlan(tx, accountId, { plan: account.plan, planStatus: 'past_due' });
  }
  await updateCharge(tx, id, { declines: declines + 1, declinedAt: tx.at, customerId: null, status: staysDue ? 'open' : 'dropped' });
  tx.note(accountId, kind === 'auto_topup' ? autoTopupDeclined(accountId, reason) : paymentDeclined(accountId, kind, reason));
}
