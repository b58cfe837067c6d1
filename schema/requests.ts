import { boolean, index, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { bytea } from './bytea.ts';

const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** Answers of mutating requests, written in the transaction of their effect. */
export const idempotency = pgTable(
  'idempotency',
  {
    /** Account and caller. */
    scope: text('scope').notNull(),
    /** Hash of the key; the key itself decrypts the body and is not kept. */
    keyHash: bytea('key_hash').notNull(),
    requestHash: bytea('request_hash').notNull(),
    status: integer('status').notNull(),
    headers: jsonb('headers').$type<Record<string, string>>().notNull(),
    body: bytea('body'),
    /** Set while the answer is that of a job, which has not been given yet. */
    jobId: text('job_id'),
    createdAt: at('created_at').notNull().defaultNow(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.keyHash] }), index('idempotency_expiry').on(t.expiresAt)],
);

/** The token audit log: how many requests a credential made, in rows that each process adds every second or so. */
export const requestCounts = pgTable(
  'request_counts',
  {
    accountId: text('account_id').notNull(),
    userId: text('user_id').notNull(),
    credentialId: text('credential_id').notNull(),
    kind: text('kind', { enum: ['session', 'access_token', 'account_key'] }).notNull(),
    at: at('at').notNull(),
    requests: integer('requests').notNull(),
  },
  (t) => [
    index('request_counts_user').on(t.userId, t.at),
    index('request_counts_credential').on(t.credentialId, t.at),
    index('request_counts_account').on(t.accountId, t.at),
  ],
);

/** One row per credential: how much of this minute's allowance the processes have leased. Made unlogged by its migration. */
export const rateWindows = pgTable('rate_windows', {
  subject: text('subject').primaryKey(),
  /** Minutes since 1970. */
  minute: integer('minute').notNull(),
  leased: integer('leased').notNull(),
});

/** Log-in attempts of the last minute, by e-mail and by address. Made unlogged by its migration. */
export const loginAttempts = pgTable(
  'login_attempts',
  {
    subject: text('subject').notNull(),
    attempt: text('attempt').notNull(),
    failed: boolean('failed').notNull().default(false),
    at: at('at').notNull().defaultNow(),
  },
  (t) => [index('login_attempts_subject').on(t.subject, t.at)],
);
