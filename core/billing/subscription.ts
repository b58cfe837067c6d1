import type { Interval, PaidPlan, Plan } from '../credits/priceList.ts';
import type { Period } from './period.ts';

/** A subscription that is not over. */
export interface Subscription {
  plan: PaidPlan;
  interval: Interval;
  /** `canceled`: paid for until its period ends, and not renewed then. */
  status: 'trialing' | 'active' | 'past_due' | 'canceled';
  period: Period;
  /** Nothing is paid for yet, but the plan is had. */
  isTrial: boolean;
}

/** What an account has once its subscription is over. */
export function planWithoutSubscription(paysByUsage: boolean): Plan {
  return paysByUsage ? 'payg' : 'free';
}

/** Whether an account has a plan that is not subscribed to. If it is past due then, it owes for its usage. */
export const isUnsubscribed = ({ plan }: { plan: Plan }): boolean => plan === 'free' || plan === 'payg';
