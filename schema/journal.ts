import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { bytea } from './bytea.ts';

const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });
const count = (name: string) => bigint(name, { mode: 'number' });

/**
 * One row per workbook and per account. Its lock is the last one a change takes: it gives the next numbers of the
 * journal, so that they are gap-free and in commit order, and the end of the audit chain.
 */
export const heads = pgTable('heads', {
  scope: text('scope').primaryKey(),
  accountId: text('account_id').notNull(),
  opSeq: count('op_seq').notNull().default(0),
  auditSeq: count('audit_seq').notNull().default(0),
  eventSeq: count('event_seq').notNull().default(0),
  /** Hash of the newest audit entry. */
  chainHash: bytea('chain_hash').notNull(),
  /** Keyed seal over (scope, audit_seq, chain_hash): a shortened chain cannot be passed off as whole. */
  seal: bytea('seal').notNull(),
});

export const ops = pgTable(
  'ops',
  {
    scope: text('scope').notNull(),
    opId: count('op_id').notNull(),
    kind: text('kind').notNull(),
    tableId: text('table_id'),
    tableName: text('table_name'),
    editVersion: count('edit_version'),
    actor: text('actor').notNull(),
    userId: text('user_id'),
    credential: text('credential').notNull(),
    codeRef: text('code_ref'),
    undoable: boolean('undoable').notNull().default(false),
    undoneBy: count('undone_by'),
    createdAt: at('created_at').notNull(),
  },
  // By table: which op made a version, for history, diff and undo.
  (t) => [primaryKey({ columns: [t.scope, t.opId] }), index('ops_table').on(t.tableId, t.editVersion).where(sql`table_id IS NOT NULL`)],
);

export const auditEntries = pgTable(
  'audit_entries',
  {
    scope: text('scope').notNull(),
    seq: count('seq').notNull(),
    at: at('at').notNull(),
    actor: text('actor').notNull(),
    userId: text('user_id'),
    credential: text('credential').notNull(),
    action: text('action').notNull(),
    target: text('target').notNull(),
    /** Names, ids and versions; never a cell's value. */
    detail: jsonb('detail').$type<Record<string, unknown>>().notNull(),
    requestId: text('request_id').notNull(),
    hash: bytea('hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.seq] })],
);

/** Events on their way to webhooks, in commit order per workbook. */
export const outbox = pgTable(
  'outbox',
  {
    scope: text('scope').notNull(),
    seq: count('seq').notNull(),
    eventId: text('event_id').notNull(),
    type: text('type').notNull(),
    actor: text('actor').notNull(),
    data: jsonb('data').$type<Record<string, unknown>>().notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.seq] })],
);

/** What was used, as rows that are summed later; no shared row is ever updated. */
export const usageEntries = pgTable(
  'usage_entries',
  {
    accountId: text('account_id').notNull(),
    scope: text('scope').notNull(),
    kind: text('kind').notNull(),
    amount: integer('amount').notNull(),
    at: at('at').notNull(),
  },
  (t) => [index('usage_account').on(t.accountId, t.at)],
);

/**
 * How far each audit chain was anchored outside of the database, so that only those that have moved are looked at. Nothing
 * is believed because it stands here: the anchors themselves are in the blob store.
 */
export const auditAnchors = pgTable(
  'audit_anchors',
  {
    scope: text('scope').primaryKey(),
    seq: count('seq').notNull(),
    /** Since when the chain is known not to be whole. */
    brokenAt: at('broken_at'),
  },
  (t) => [index('audit_anchors_broken').on(t.scope).where(sql`broken_at IS NOT NULL`)],
);
