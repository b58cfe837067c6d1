import { DomainError } from '../../core/errors.ts';
import { dayOf, startOf } from '../../core/usage/days.ts';
import type { ChargeOutcome } from '../../store/billing/provider.ts';
import { findProfile } from '../../store/pg/billing.ts';
import { type ChargeRecord, keepCustomer, listDueCharges } from '../../store/pg/charges.ts';
import { commit } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { billingActor } from './billingActor.ts';
import { bookCharge, declineCharge } from './bookCharge.ts';
import { findWallet } from './readBilling.ts';

const descriptions = {
  auto_topup: ({ credits }: ChargeRecord) => `${credits} credits`,
  settlement: ({ credits }: ChargeRecord) => `${credits} credits of overage`,
  subscription: () => 'subscription',
};

/**
 * Charges what an account has to pay, and books it. Can be cut off anywhere: a charge keeps its key and its customer until its
 * outcome is booked, so what was charged already is not charged again. One whose outcome is not heard does not keep the others
 * waiting. Declined ones are due again on another day. Returns how many there were.
 */
export async function payCharges(services: Services, accountId: string, activity: ActivityContext): Promise<number> {
  const failures = new Map<string, unknown>();
  for (let charged = 0; ; ) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    const due = await listDueCharges(services.db.orm, accountId, startOf(dayOf(new Date())));
    const charge = due.find(({ id }) => !failures.has(id));
    if (!charge) {
      for (const failure of failures.values()) throw failure;
      return charged;
    }
    try {
      if (await pay(services, charge)) charged += 1;
    } catch (error) {
      failures.set(charge.id, error);
    }
  }
}

/** False: the charge has changed since it was read, or the account is being deleted. */
async function pay(services: Services, read: ChargeRecord): Promise<boolean> {
  const charge = await chooseCustomer(services, read);
  if (!charge) return false;
  const outcome = await ask(services, charge);
  try {
    await commit(services, billingActor(charge.id), (tx) =>
      outcome.outcome === 'paid' ? bookCharge(tx, charge, outcome.ref) : declineCharge(tx, charge, outcome.reason),
    );
  } catch (error) {
    // Its deletion has begun while the card was asked; it has no due charges any more.
    if (outcome.outcome !== 'paid' || !(error instanceof DomainError) || error.code !== 'not-found') throw error;
    services.log.error({ account: charge.accountId, payment: outcome.ref }, 'paid for an account that is being deleted');
    return false;
  }
  if (outcome.outcome === 'declined')
    services.log.info({ account: charge.accountId, charge: charge.id, kind: charge.kind, reason: outcome.reason }, 'charge declined');
  return true;
}

/**
 * Writes down who pays before anybody is asked: whatever becomes of the card meanwhile, the same customer is asked how it went. A
 * charge that comes back without one was asked of nobody, and there is no card. Null: it has changed since it was read.
 */
async function chooseCustomer(services: Services, charge: ChargeRecord): Promise<ChargeRecord | null> {
  if (charge.customerId !== null) return charge;
  const { customerId, card } = await findWallet(services, await findProfile(services.db.orm, charge.accountId));
  if (customerId === null || card === null) return charge;
  const { result: isKept } = await commit(services, billingActor(charge.id), (tx) => keepCustomer(tx, charge, customerId));
  return isKept ? { ...charge, customerId } : null;
}

async function ask({ payments }: Services, charge: ChargeRecord): Promise<ChargeOutcome> {
  const { id, accountId, customerId, kind, amount, currency, declines } = charge;
  if (customerId === null) return { outcome: 'declined', reason: 'no_card' };
  const description = descriptions[kind](charge);
  return payments.charge({ customerId, accountId, amount, currency, description, key: `${id}:${declines}` });
}
