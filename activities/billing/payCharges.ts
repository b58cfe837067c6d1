import { DomainError } from '../../core/errors.ts';
import { dayOf, startOf } from '../../core/usage/days.ts';
import type { ChargeOutcome } from '../../store/billing/provider.ts';
import { findProfile } from '../../store/pg/billing.ts';
import { type ChargeRecord, listDueCharges } from '../../store/pg/charges.ts';
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
 * Charges what an account has to pay, and books it. Can be cut off anywhere: a charge keeps its key until its outcome is booked, so
 * what was charged already is not charged again. Declined ones are due again on another day. Returns how many there were.
 */
export async function payCharges(services: Services, accountId: string, activity: ActivityContext): Promise<number> {
  for (let charged = 0; ; charged += 1) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    const [charge] = await listDueCharges(services.db.orm, accountId, startOf(dayOf(new Date())));
    if (!charge) return charged;
    const outcome = await ask(services, charge);
    try {
      await commit(services, billingActor(charge.id), (tx) =>
        outcome.outcome === 'paid' ? bookCharge(tx, charge, outcome.ref) : declineCharge(tx, charge, outcome.reason),
      );
    } catch (error) {
      // Its deletion has begun while the card was asked.
      if (outcome.outcome !== 'paid' || !(error instanceof DomainError) || error.code !== 'not-found') throw error;
      services.log.error({ account: accountId, payment: outcome.ref }, 'paid for an account that is being deleted');
      return charged;
    }
  }
}

async function ask(services: Services, charge: ChargeRecord): Promise<ChargeOutcome> {
  const { id, accountId, kind, amount, currency, declines } = charge;
  const { customerId, card } = await findWallet(services, await findProfile(services.db.orm, accountId));
  if (customerId === null || card === null) return { outcome: 'declined', reason: 'no_card' };
  const description = descriptions[kind](charge);
  return services.payments.charge({ customerId, accountId, amount, currency, description, key: `${id}:${declines}` });
}
