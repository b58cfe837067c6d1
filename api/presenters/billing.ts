import type { BillingView } from '../../activities/billing/readBilling.ts';
import { countCeiling } from '../../core/billing/overage.ts';
import { overage } from '../../core/credits/priceList.ts';
import type { components } from '../../schema/contract.ts';
import type { PaymentProvider } from '../../store/billing/provider.ts';

type Schemas = components['schemas'];

export function presentBilling({ name }: Pick<PaymentProvider, 'name'>, view: BillingView): Schemas['Billing'] {
  const { account, period, card, sharesWith } = view;
  return {
    account_id: account.id,
    plan: account.plan,
    plan_status: account.planStatus,
    interval: view.interval,
    provider: name,
    period_start: period.start.toISOString(),
    period_end: period.end.toISOString(),
    credits: view.credits,
    auto_topup: view.autoTopup,
    overage: { ...view.overage, settlement_floor: overage.settlementFloor, ceiling: countCeiling(account) },
    card: card && { brand: card.brand, last4: card.last4, exp_month: card.expMonth, exp_year: card.expYear },
    shares_card_with: sharesWith,
  };
}
