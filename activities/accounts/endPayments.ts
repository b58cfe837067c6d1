import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { findProfile } from '../../store/pg/billing.ts';
import type { Services } from '../../store/services.ts';

/** Nothing can be bought for the account any more, and nothing is renewed. Its customer at the provider stays. */
export async function endPayments({ db, payments }: Services, accountId: string, heartbeat: () => void): Promise<void> {
  const profile = await findProfile(db.orm, accountId);
  const { sharesWith } = profile ?? {};
  const payer = sharesWith ? await acrossAccounts(() => findProfile(db.orm, sharesWith)) : null;
  const customerIds = [profile?.customerId, payer?.customerId].filter((id) => typeof id === 'string');
  if (customerIds.length > 0) await payments.endAccount({ accountId, customerIds, onEnded: heartbeat });
}
