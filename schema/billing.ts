import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { at, bytea } from './columnTypes.ts';
import { accounts } from './identity.ts';

/** The card on file, as far as the payment provider tells. */
export interface CardOnFile {
  brand: string;
  last4: string;
  expMonth: number;
  expYear: number;
}

/** How an account pays. One without a row never did. Plan and status are the account's own. */
export const billingProfiles = pgTable(
  'billing_profiles',
  {
    accountId: text('account_id')
      .primaryKey()
      .references(() => accounts.id),
    /** Its own customer, in the provider's words. */
    customerId: text('customer_id'),
    /** The account whose customer and card this one uses. */
    sharesWith: text('shares_with').references(() => accounts.id),
    card: jsonb('card').$type<CardOnFile>(),
    /** Whether it has pay-as-you-go while it has no subscription. */
    paysByUsage: boolean('pays_by_usage').notNull().default(false),
    interval: text('interval', { enum: ['monthly', 'annual'] }),
    /** Of the subscription. */
    periodStart: at('period_start'),
    periodEnd: at('period_end'),
    autoTopup: boolean('auto_topup').notNull().default(false),
    /** Null: as the price list says. */
    topupAmount: integer('topup_amount'),
    topupThreshold: integer('topup_threshold'),
    /** Overage of earlier periods that is not settled, in credits. */
    arrears: integer('arrears').notNull().default(0),
    /** How often the provider's state was written here: what was read from the provider before the last time is out of date. */
    providerReads: integer('provider_reads').notNull().default(0),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [index('billing_profiles_customer').on(t.customerId), index('billing_profiles_shares').on(t.sharesWith)],
);

/** Pages of the embedded provider that somebody was sent to. */
export const billingSessions = pgTable(
  'billing_sessions',
  {
    /** Hash of the id, which is the whole authorization of the page. */
    idHash: bytea('id_hash').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    kind: text('kind', { enum: ['subscription', 'setup', 'topup', 'portal'] }).notNull(),
    plan: text('plan', { enum: ['solo', 'pro'] }),
    interval: text('interval', { enum: ['monthly', 'annual'] }),
    pack: text('pack', { enum: ['small', 'medium', 'large'] }),
    successUrl: text('success_url'),
    cancelUrl: text('cancel_url'),
    status: text('status', { enum: ['open', 'completed', 'canceled'] })
      .notNull()
      .default('open'),
    createdAt: at('created_at').notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [
    index('billing_sessions_expiry').on(t.expiresAt),
    index('billing_sessions_account').on(t.accountId),
    check(
      'billing_sessions_order',
      sql`(kind = 'subscription') = (plan IS NOT NULL AND "interval" IS NOT NULL) AND (kind = 'topup') = (pack IS NOT NULL)`,
    ),
  ],
);

/** What was paid. Never changed, never deleted while the account exists. */
export const payments = pgTable(
  'payments',
  {
    /** The provider's name for it, so that nothing is booked twice. */
    ref: text('ref').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    kind: text('kind', { enum: ['subscription', 'topup', 'auto_topup', 'settlement'] }).notNull(),
    /** In the smallest unit of the currency. */
    amount: integer('amount').notNull(),
    currency: text('currency').notNull(),
    /** Bought with it. */
    credits: integer('credits').notNull(),
    at: at('at').notNull(),
  },
  (t) => [index('payments_account').on(t.accountId, t.at), check('payments_amount', sql`amount >= 0 AND credits >= 0`)],
);

/** Callbacks of the payment provider that were applied. Older ones go: providers repeat a callback for some days. */
export const billingEvents = pgTable(
  'billing_events',
  {
    eventId: text('event_id').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    at: at('at').notNull(),
  },
  (t) => [index('billing_events_at').on(t.at), index('billing_events_account').on(t.accountId)],
);

/**
 * What is to be charged to the card on file. Written before the provider is asked, so that the same is asked again when nobody
 * knows how it went.
 */
export const charges = pgTable(
  'charges',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    kind: text('kind', { enum: ['auto_topup', 'settlement', 'subscription'] }).notNull(),
    /** What made it due, such as `reserve:<job>`. Nothing makes two charges due. */
    cause: text('cause').notNull(),
    amount: integer('amount').notNull(),
    currency: text('currency').notNull(),
    /** Bought or settled with it. */
    credits: integer('credits').notNull(),
    status: text('status', { enum: ['open', 'paid', 'dropped'] })
      .notNull()
      .default('open'),
    /** Who was asked, from before the first request until the outcome is booked. Null: nobody can have paid it yet. */
    customerId: text('customer_id'),
    /** How often it was declined. The next try is another charge for the provider. */
    declines: integer('declines').notNull().default(0),
    /** When it was declined last; it is tried again on another day. */
    declinedAt: at('declined_at'),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('charges_cause').on(t.accountId, t.cause),
    uniqueIndex('charges_open').on(t.accountId, t.kind).where(sql`status = 'open'`),
    check('charges_amount', sql`amount > 0 AND credits >= 0`),
  ],
);
