import { cardRemoved } from '../../core/journal/billingNotes.ts';
import { listSharers, lockBilling, putProfile, setPlan } from '../../store/pg/billing.ts';
import type { Tx } from '../../store/pg/commit.ts';

/**
 * The card that other accounts use is gone, and with it their pay-as-you-go. They go on sharing, so that a card that is saved later can
 * be used by them, too; whether they are billed by usage then is asked again. The transaction has locked the account that pays.
 */
export async function stopSharers(tx: Tx, payerId: string): Promise<void> {
  for (const accountId of await listSharers(tx, payerId)) {
    const found = await lockBilling(tx, accountId);
    if (!found?.profile?.paysByUsage && !found?.profile?.autoTopup) continue;
    const { plan, planStatus } = found.account;
    await putProfile(tx, accountId, { paysByUsage: false, autoTopup: false });
    if (plan === 'payg') await setPlan(tx, accountId, { plan: 'free', planStatus });
    tx.note(accountId, cardRemoved(accountId));
  }
}
