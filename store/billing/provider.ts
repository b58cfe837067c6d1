import type { Subscription } from '../../core/billing/subscription.ts';
import type { Interval, Pack, PaidPlan } from '../../core/credits/priceList.ts';
import type { CardOnFile } from '../../schema/index.ts';
import type { Tx } from '../pg/commit.ts';

export type Order = { kind: 'subscription'; plan: PaidPlan; interval: Interval } | { kind: 'setup' } | { kind: 'topup'; pack: Pack };

export interface Checkout {
  accountId: string;
  /** Null: the provider does not know who pays yet. */
  customerId: string | null;
  order: Order;
  /** Where the page leads; null: it says itself how it went. */
  successUrl: string | null;
  cancelUrl: string | null;
}

/** A page of the provider to send a person to. */
export interface PaymentPage {
  url: string;
  sessionId: string;
  /** What the service has to remember of it, in the transaction of the request. */
  keep(tx: Tx): Promise<void>;
}

/** What to take from the card on file. */
export interface Charge {
  customerId: string;
  accountId: string;
  /** In the smallest unit of the currency. */
  amount: number;
  currency: string;
  /** What the person reads beside it. */
  description: string;
  /** Names what is paid for: it is charged at most once, however often it is asked for. */
  key: string;
  /** Bought with it: then a callback books it, too, should the service be stopped in between. */
  pack?: Pack;
}

/** `ref`: the provider's name for the payment, the same for the same key. */
export type ChargeOutcome = { outcome: 'paid'; ref: string } | { outcome: 'declined'; reason: string };

/** What the provider knows of a customer now. */
export interface CustomerState {
  card: CardOnFile | null;
  /** Null: none, or one that is over. */
  subscription: Subscription | null;
}

/** What a bill of a subscription pays for. */
export interface PaidPeriod {
  plan: PaidPlan;
  end: Date;
}

/** `period`: null where there is something else on the bill. */
export type PaidNews =
  | { kind: 'topup'; pack: Pack; ref: string }
  | { kind: 'subscription'; period: PaidPeriod | null; ref: string; amount: number; currency: string };

/** What a callback is about, as it is now. */
export interface News {
  /** Null: the account that has the customer. */
  accountId: string | null;
  /** Whose card or subscription may have changed; null: nobody's. */
  customerId: string | null;
  paid: PaidNews | null;
  /** Whether a card was saved for pay-as-you-go, and is still there. */
  savedCard: boolean;
}

export interface Callback {
  /** The same for a callback that is repeated. */
  eventId: string;
  /** Asks the provider. Null: nothing that concerns an account. */
  look(): Promise<News | null>;
}

/** Who takes the money. */
export interface PaymentProvider {
  name: 'ledger' | 'stripe';
  /** Whether it renews and ends subscriptions itself, and tells by callbacks. Otherwise the service does. */
  renewsItself: boolean;
  openCheckout(checkout: Checkout): Promise<PaymentPage>;
  /** Where the person changes the card or cancels the subscription. */
  openPortal(portal: { accountId: string; customerId: string | null; returnUrl: string | null }): Promise<PaymentPage>;
  /** Charges the card without the person being there. Throws where the provider cannot be asked; that may be repeated. */
  charge(charge: Charge): Promise<ChargeOutcome>;
  /** `bad-signature` unless the provider has sent it. Null: nothing to do. */
  readCallback(raw: Uint8Array, signature: string | null): Callback | null;
  readCustomer(customerId: string, accountId: string): Promise<CustomerState>;
  /**
   * The account is being deleted: its open pages and its subscriptions end at the provider. The customers stay as they are: its own,
   * and that of the account whose card it shares. May be repeated; calls `onEnded` after each request or so.
   */
  endAccount(account: { accountId: string; customerIds: string[]; onEnded(): void }): Promise<void>;
}
