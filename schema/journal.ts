import { sql } from 'drizzle-orm';
import { boolean, index, integer, jsonb, pgSequence, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { at, bytea, count } from './columnTypes.ts';

/**
 * One row per workbook and per account, with the last numbers of its journal and the end of its audit chain. A change locks it
 * last, so that numbers have no gaps and follow the order of commits.
 */
export const heads = pgTable('heads', {
  scope: text('scope').primaryKey(),
  accountId: text('account_id').notNull(),
  opSeq: count('op_seq').notNull().default(0),
  auditSeq: count('audit_seq').notNull().default(0),
  eventSeq: count('event_seq').notNull().default(0),
  /** Hash of the newest audit entry. */
  chainHash: bytea('chain_hash').notNull(),
  /** HMAC over (scope, audit_seq, chain_hash), so that removing the newest entries is noticed. */
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
  // The index finds the op that made a version, for history, diff and undo.
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
    /** Names, ids and versions; never values of cells. */
    detail: jsonb('detail').$type<Record<string, unknown>>().notNull(),
    requestId: text('request_id').notNull(),
    hash: bytea('hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.seq] })],
);

/** The order in which events are published. */
export const eventPositions = pgSequence('event_positions');

/**
 * Events, numbered per workbook in order of commits. They are published some moments after their commit, and kept for 30 days.
 * Only the first of these indexes costs the change itself something; the others know published events alone.
 */
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
    /** Its place among all published events; null: not published yet. */
    position: count('position'),
  },
  (t) => [
    primaryKey({ columns: [t.scope, t.seq] }),
    index('outbox_unpublished').on(t.scope, t.seq).where(sql`position IS NULL`),
    uniqueIndex('outbox_position').on(t.position).where(sql`position IS NOT NULL`),
    index('outbox_scope_position').on(t.scope, t.position).where(sql`position IS NOT NULL`),
    index('outbox_event').on(t.eventId).where(sql`position IS NOT NULL`),
  ],
);

/** Usage, summed when read, so that requests need not update a shared row. */
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
 * How far each audit chain was anchored, so that only chains that have grown are read. Not trusted: the anchors themselves are
 * in the blob store.
 */
export const auditAnchors = pgTable(
  'audit_anchors',
  {
    scope: text('scope').primaryKey(),
    seq: count('seq').notNull(),
    /** When the chain was found to be broken. */
    brokenAt: at('broken_at'),
  },
  (t) => [index('audit_anchors_broken').on(t.scope).where(sql`broken_at IS NOT NULL`)],
);
