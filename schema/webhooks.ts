import { sql } from 'drizzle-orm';
import { boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { at, bytea, count } from './columnTypes.ts';
import { accounts, users } from './identity.ts';

/** Personal subscriptions to events. */
export const webhooks = pgTable(
  'webhooks',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    url: text('url').notNull(),
    /** Empty: all kinds. */
    events: text('events').array().notNull(),
    status: text('status', { enum: ['active', 'disabled'] })
      .notNull()
      .default('active'),
    /** As that of credentials: `account`, `workspace:<id>` or `workbook:<id>`. */
    resource: text('resource').notNull(),
    /** Made by a session, which reaches all accounts of its user; otherwise the webhook hears of its own account alone. */
    allAccounts: boolean('all_accounts').notNull(),
    /** Encrypted, and so is the one before. */
    secret: bytea('secret').notNull(),
    previousSecret: bytea('previous_secret'),
    previousSecretExpiresAt: at('previous_secret_expires_at'),
    /** Since when deliveries wait that its workflow has not been told of. */
    wantedAt: at('wanted_at'),
    /** Until then an activity looks for new deliveries by itself, so that its workflow need not be told. */
    attendedUntil: at('attended_until'),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    index('webhooks_user').on(t.userId, t.id),
    index('webhooks_account').on(t.accountId),
    index('webhooks_wanted').on(t.wantedAt).where(sql`wanted_at IS NOT NULL`),
  ],
);

/** Events on their way to a webhook, and what became of them. Kept for 30 days. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: text('id').primaryKey(),
    webhookId: text('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    accountId: text('account_id').notNull(),
    /** Deliveries of one scope are sent in order: a workbook, an account, or the webhook itself for its tests. */
    scope: text('scope').notNull(),
    /** The place of the event among all; the order within the scope. */
    position: count('position').notNull(),
    workbookId: text('workbook_id'),
    eventId: text('event_id').notNull(),
    type: text('type').notNull(),
    /** The body, the same on every try. */
    payload: text('payload').notNull(),
    status: text('status', { enum: ['pending', 'delivered', 'failed'] })
      .notNull()
      .default('pending'),
    attempts: integer('attempts').notNull().default(0),
    /** Attempts since it was put into its queue, the last time. */
    tries: integer('tries').notNull().default(0),
    lastStatus: integer('last_status'),
    lastError: text('last_error'),
    nextAttemptAt: at('next_attempt_at'),
    /** When the event happened. */
    createdAt: at('created_at').notNull(),
    deliveredAt: at('delivered_at'),
  },
  (t) => [
    index('deliveries_webhook').on(t.webhookId, t.id),
    index('deliveries_pending').on(t.webhookId, t.scope, t.position).where(sql`status = 'pending'`),
    index('deliveries_age').on(t.createdAt),
    index('deliveries_scope').on(t.scope),
  ],
);
