import type { Interval, Plan } from '../credits/priceList.ts';
import { audited, type Notes } from './notes.ts';

export const subscribed = (accountId: string, plan: Plan, interval: Interval): Notes =>
  audited('billing.subscribed', accountId, { plan, interval });

export const unsubscribed = (accountId: string): Notes => audited('billing.unsubscribed', accountId);

export const cardSaved = (accountId: string): Notes => audited('billing.card_saved', accountId);

export const cardRemoved = (accountId: string): Notes => audited('billing.card_removed', accountId);

export const cardShared = (accountId: string, withAccount: string): Notes =>
  audited('billing.card_shared', accountId, { with: withAccount });

export const creditsBought = (accountId: string, credits: number, payment: string): Notes =>
  audited('billing.credits_bought', accountId, { credits, payment });

export const autoTopupSet = (accountId: string, enabled: boolean): Notes => audited('billing.auto_topup_set', accountId, { enabled });

export const autoTopupDeclined = (accountId: string, reason: string): Notes =>
  audited('billing.auto_topup_declined', accountId, { reason });

export const overageBilled = (accountId: string, credits: number): Notes => audited('billing.overage_billed', accountId, { credits });

export const overageSettled = (accountId: string, credits: number, payment: string): Notes =>
  audited('billing.overage_settled', accountId, { credits, payment });

export const paymentDeclined = (accountId: string, kind: string, reason: string): Notes =>
  audited('billing.payment_declined', accountId, { kind, reason });

export const subscriptionEnded = (accountId: string, plan: Plan): Notes => audited('billing.subscription_ended', accountId, { plan });

export const subscriptionRenewed = (accountId: string, end: Date): Notes =>
  audited('billing.subscription_renewed', accountId, { until: end.toISOString() });
