import { randomBytes } from 'node:crypto';

/** Objects as Stripe's reference describes them, as far as anybody here looks at them. */
export interface StripeObject {
  id: string;
  object: string;
  created: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of another service.
  [field: string]: any;
}

export interface StripeEvent {
  id: string;
  object: 'event';
  type: string;
  created: number;
  data: { object: StripeObject; previous_attributes?: object };
}

type Fields = Record<string, unknown>;

const monthS = 30 * 86_400;

/** The state of a Stripe account, what people and time do to it, and the events that tell of that. */
export class StripeAccount {
  readonly objects = new Map<string, StripeObject>();
  readonly events: StripeEvent[] = [];
  /** Each thing happens a second after the one before. */
  private now = Math.floor(Date.now() / 1000) - 86_400;
  private readonly marker = randomBytes(4).toString('hex');

  private nextId(prefix: string): string {
    this.now += 1;
    return `${prefix}_${this.marker}${this.now}`;
  }

  make(prefix: string, object: string, fields: Fields): StripeObject {
    const id = (fields.id as string | undefined) ?? this.nextId(prefix);
    this.now += 1;
    const made: StripeObject = { object, livemode: false, metadata: {}, ...fields, id, created: this.now };
    this.objects.set(id, made);
    return made;
  }

  get(id: string): StripeObject {
    const found = this.objects.get(id);
    if (!found) throw new Error(`there is no ${id} at Stripe`);
    return found;
  }

  /** Newest first, as lists are. */
  list(object: string, matches: (one: StripeObject) => boolean): StripeObject[] {
    return [...this.objects.values()].filter((one) => one.object === object && matches(one)).sort((a, b) => b.created - a.created);
  }

  private tell(type: string, object: StripeObject, previous?: object): void {
    const data = { object: structuredClone(object), ...(previous ? { previous_attributes: previous } : {}) };
    this.events.push({ id: this.nextId('evt'), object: 'event', type, created: this.now, data });
  }

  /** A person fills in the page of a checkout session. */
  completeSession(sessionId: string, last4 = '4242'): void {
    const session = this.get(sessionId);
    if (session.mode === 'payment') {
      const intent = this.make('pi', 'payment_intent', { ...session.payment_intent_data, customer: session.customer, status: 'succeeded' });
      this.tell('payment_intent.created', intent);
      this.tell('payment_intent.succeeded', intent);
      Object.assign(session, { payment_intent: intent.id, payment_status: 'paid' });
    } else {
      const method = this.saveCard(session.customer, last4);
      if (session.mode === 'setup') {
        const intent = this.make('seti', 'setup_intent', { status: 'succeeded', customer: session.customer, payment_method: method.id });
        this.tell('setup_intent.succeeded', intent);
        session.setup_intent = intent.id;
      } else session.subscription = this.subscribe(session);
    }
    session.status = 'complete';
    this.tell('checkout.session.completed', session);
  }

  private subscribe({ customer, line_items, subscription_data }: StripeObject): string {
    const price = this.get(line_items[0].price);
    const period = { current_period_start: this.now, current_period_end: this.now + monthS };
    const item = this.make('si', 'subscription_item', { price, ...period });
    const subscription = this.make('sub', 'subscription', {
      customer,
      status: 'incomplete',
      metadata: subscription_data.metadata,
      items: { object: 'list', data: [item] },
      cancel_at: null,
      cancel_at_period_end: false,
    });
    this.tell('customer.subscription.created', subscription);
    this.bill(subscription, price.unit_amount, 'subscription_create');
    subscription.status = 'active';
    this.tell('customer.subscription.updated', subscription, { status: 'incomplete' });
    return subscription.id;
  }

  /** `changes`: what was charged and given back for changes of plan since the last bill. */
  private bill(subscription: StripeObject, amount: number, reason: string, isPaid = true, changes: StripeObject[] = []): StripeObject {
    const [item] = subscription.items.data;
    const { price } = item;
    const all = [...changes, this.describeLine(item, price, amount, reason === 'subscription_update')];
    const invoice = this.make('in', 'invoice', {
      customer: subscription.customer,
      status: isPaid ? 'paid' : 'open',
      billing_reason: reason,
      currency: price.currency,
      amount_due: amount,
      amount_paid: isPaid ? amount : 0,
      all_lines: all,
      // The rest is asked for.
      lines: { object: 'list', has_more: all.length > 10, data: all.slice(0, 10) },
      parent: {
        type: 'subscription_details',
        subscription_details: { subscription: subscription.id, metadata: { ...subscription.metadata } },
      },
    });
    const intent = this.make('pi', 'payment_intent', {
      amount,
      currency: price.currency,
      customer: subscription.customer,
      status: isPaid ? 'succeeded' : 'requires_payment_method',
    });
    this.tell('invoice.created', invoice);
    this.tell(isPaid ? 'payment_intent.succeeded' : 'payment_intent.payment_failed', intent);
    this.tell(isPaid ? 'invoice.paid' : 'invoice.payment_failed', invoice);
    return invoice;
  }

  private describeLine(item: StripeObject, price: StripeObject, amount: number, proration: boolean): StripeObject {
    return this.make('il', 'line_item', {
      amount,
      period: { start: item.current_period_start, end: item.current_period_end },
      pricing: { type: 'price_details', price_details: { price: price.id, product: price.product } },
      parent: { type: 'subscription_item_details', subscription_item_details: { subscription_item: item.id, proration } },
    });
  }

  saveCard(customer: string, last4 = '4242'): StripeObject {
    const card = { brand: 'visa', last4, exp_month: 12, exp_year: 2031 };
    const method = this.make('pm', 'payment_method', { type: 'card', card, customer });
    this.tell('payment_method.attached', method);
    return method;
  }

  /** In the portal. */
  removeCard(methodId: string): void {
    const method = this.get(methodId);
    const { customer } = method;
    method.customer = null;
    const owner = this.get(customer);
    if (owner.invoice_settings.default_payment_method === methodId) owner.invoice_settings.default_payment_method = null;
    this.tell('payment_method.detached', method, { customer });
  }

  chooseCard(methodId: string): void {
    const customer = this.get(this.get(methodId).customer);
    const before = structuredClone(customer.invoice_settings);
    customer.invoice_settings.default_payment_method = methodId;
    this.tell('customer.updated', customer, { invoice_settings: before });
  }

  /** The next period begins; the card pays, or it does not. */
  renew(subscriptionId: string, isPaid = true): void {
    const subscription = this.get(subscriptionId);
    const [item] = subscription.items.data;
    const changes = subscription.pending ?? [];
    subscription.pending = [];
    item.current_period_start = item.current_period_end;
    item.current_period_end += monthS;
    if (!isPaid) subscription.status = 'past_due';
    this.tell('customer.subscription.updated', subscription);
    this.bill(subscription, item.price.unit_amount, 'subscription_cycle', isPaid, changes);
  }

  payLate(subscriptionId: string): void {
    const subscription = this.get(subscriptionId);
    const [invoice] = this.list('invoice', ({ status, parent }) => {
      return status === 'open' && parent.subscription_details.subscription === subscriptionId;
    });
    if (!invoice) throw new Error('nothing is to be paid');
    Object.assign(invoice, { status: 'paid', amount_paid: invoice.amount_due });
    subscription.status = 'active';
    this.tell('invoice.paid', invoice);
    this.tell('customer.subscription.updated', subscription, { status: 'past_due' });
  }

  /** In the portal, to another price; the difference is on the next bill. */
  changePlanUnbilled(subscriptionId: string, price: StripeObject): void {
    const subscription = this.get(subscriptionId);
    const [item] = subscription.items.data;
    const lines = [
      this.describeLine(item, item.price, -item.price.unit_amount, true),
      this.describeLine(item, price, price.unit_amount, true),
    ];
    item.price = price;
    subscription.pending = [...(subscription.pending ?? []), ...lines];
    this.tell('customer.subscription.updated', subscription);
  }

  /** In the portal, to another price, which is billed at once. */
  changePlan(subscriptionId: string, price: StripeObject): void {
    const subscription = this.get(subscriptionId);
    subscription.items.data[0].price = price;
    this.tell('customer.subscription.updated', subscription);
    this.bill(subscription, price.unit_amount, 'subscription_update');
  }

  cancel(subscriptionId: string): void {
    const subscription = this.get(subscriptionId);
    subscription.cancel_at_period_end = true;
    this.tell('customer.subscription.updated', subscription, { cancel_at_period_end: false });
  }

  end(subscriptionId: string): void {
    const subscription = this.get(subscriptionId);
    subscription.status = 'canceled';
    this.tell('customer.subscription.deleted', subscription);
  }

  /** Asks the card, without the person. */
  confirm(intent: StripeObject, methodId: string): 'paid' | 'declined' | 'authentication_required' {
    const { last4 } = this.get(methodId).card;
    const outcome = last4 === '0002' ? 'declined' : last4 === '3155' ? 'authentication_required' : 'paid';
    if (outcome === 'paid') intent.status = 'succeeded';
    else intent.last_payment_error = { code: 'card_declined', decline_code: outcome === 'declined' ? 'generic_decline' : outcome };
    this.tell(outcome === 'paid' ? 'payment_intent.succeeded' : 'payment_intent.payment_failed', intent);
    return outcome;
  }
}
