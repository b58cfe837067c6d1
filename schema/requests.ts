import { boolean, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { EditOutcome } from '../core/table/editOutcome.ts';
import { at, bytea, count } from './columnTypes.ts';

/** Answers of mutating requests, written in the transaction that makes the change. */
export const idempotency = pgTable(
  'idempotency',
  {
    /** Account and caller. */
    scope: text('scope').notNull(),
    /** Hash of the key. The key itself is not stored, because it decrypts the body. */
    keyHash: bytea('key_hash').notNull(),
    requestHash: bytea('request_hash').notNull(),
    status: integer('status').notNull(),
    headers: jsonb('headers').$type<Record<string, string>>().notNull(),
    body: bytea('body'),
    /** What an edit gave. Its answer was encrypted before that was known, and is completed with it. */
    outcome: jsonb('outcome').$type<EditOutcome>(),
    /** Set until the job that gives the answer has ended. */
    jobId: text('job_id'),
    /** That of the workbook, if there is one, when the answer was stored. */
    policyVersion: count('policy_version'),
    createdAt: at('created_at').notNull().defaultNow(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.keyHash] }), index('idempotency_expiry').on(t.expiresAt)],
);

/** How many requests a credential made; each process adds rows about every second. */
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

/** How many of this minute's requests of a credential the processes have leased. Made unlogged by its migration. */
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

/** Sessions of MCP, each of the credential that began it. */
export const mcpSessions = pgTable(
  'mcp_sessions',
  {
    /** Hash of the id. The id itself is not stored, because it decrypts the answers below. */
    idHash: bytea('id_hash').primaryKey(),
    accountId: text('account_id').notNull(),
    credentialId: text('credential_id').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
    usedAt: at('used_at').notNull().defaultNow(),
  },
  (t) => [
    index('mcp_sessions_credential').on(t.credentialId, t.usedAt),
    index('mcp_sessions_used').on(t.usedAt),
    index('mcp_sessions_account').on(t.accountId),
  ],
);

/** Answers that were sent as a stream, for clients whose connection broke meanwhile. Kept for some minutes. */
export const mcpEvents = pgTable(
  'mcp_events',
  {
    sessionHash: bytea('session_hash')
      .notNull()
      .references(() => mcpSessions.idHash, { onDelete: 'cascade' }),
    accountId: text('account_id').notNull(),
    streamId: text('stream_id').notNull(),
    number: integer('number').notNull(),
    /** Encrypted. */
    message: bytea('message').notNull(),
    /** Whether the stream ends with it. */
    isLast: boolean('is_last').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionHash, t.streamId, t.number] }),
    index('mcp_events_order').on(t.sessionHash, t.createdAt),
    index('mcp_events_age').on(t.createdAt),
  ],
);
