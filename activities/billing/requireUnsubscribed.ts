import { isUnsubscribed } from '../../core/billing/subscription.ts';
import { DomainError } from '../../core/errors.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';

/** A subscription that runs, or that waits for a card that pays, is changed in the portal. */
export function requireUnsubscribed({ plan, planStatus }: Pick<AccountRecord, 'plan' | 'planStatus'>): void {
  if (isUnsubscribed({ plan }) || planStatus === 'none' || planStatus === 'canceled') return;
  throw new DomainError(
    'subscription-active',
    'The account has a subscription already.',
    'Change or cancel it in the portal: POST /api/control/account/billing/portal.',
  );
}
