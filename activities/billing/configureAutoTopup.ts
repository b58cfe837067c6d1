import { autoTopupSet } from '../../core/journal/billingNotes.ts';
import { putProfile } from '../../store/pg/billing.ts';
import { dropUnasked } from '../../store/pg/charges.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { lockAccount } from './lockAccount.ts';

export interface AutoTopupWish {
  enabled: boolean;
  /** Null: the default. */
  amount: number | null;
  threshold: number | null;
}

/** Switched off, a recharge that was ordered is not made either, unless it may have been paid already. */
export async function configureAutoTopup(tx: Tx, accountId: string, { enabled, amount, threshold }: AutoTopupWish): Promise<void> {
  await lockAccount(tx, accountId);
  await putProfile(tx, accountId, { autoTopup: enabled, topupAmount: amount, topupThreshold: threshold });
  if (!enabled) await dropUnasked(tx, accountId, 'auto_topup');
  tx.note(accountId, autoTopupSet(accountId, enabled));
}
