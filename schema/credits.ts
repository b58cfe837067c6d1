import { sql } from 'drizzle-orm';
import { check, foreignKey, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { at } from './columnTypes.ts';

/** Why credits moved. The unique key makes retries safe: `grant:2026-11`, `reserve:<job>`, `close:<job>`. */
export const creditMovements = pgTable(
  'credit_movements',
  {
    accountId: text('account_id').notNull(),
    key: text('key').notNull(),
    kind: text('kind', { enum: ['grant', 'purchase', 'reserve', 'settle', 'release', 'expire', 'cover', 'bill'] }).notNull(),
    /** The job or payment. */
    ref: text('ref'),
    workbookId: text('workbook_id'),
    at: at('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.key] }),
    check('credit_movements_kind', sql`kind in ('grant', 'purchase', 'reserve', 'settle', 'release', 'expire', 'cover', 'bill')`),
  ],
);

/**
 * The books. Each movement takes credits from one bucket of a lot and adds them to another, so its entries sum to zero in every
 * lot. A lot is the credits of one source that expire with the same month. Triggers set number and balance, refuse movements
 * that do not sum to zero, and refuse updates and deletes.
 */
export const creditEntries = pgTable(
  'credit_entries',
  {
    accountId: text('account_id').notNull(),
    key: text('key').notNull(),
    source: text('source', { enum: ['included', 'purchased', 'overage'] }).notNull(),
    /** The last month in which they can be spent, as 202611; 999912: they never expire. */
    ends: integer('ends').notNull(),
    /** All credits come from `issued`, whose balance is the negative sum of the others. */
    bucket: text('bucket', { enum: ['issued', 'available', 'reserved', 'spent', 'settled', 'expired'] }).notNull(),
    amount: integer('amount').notNull(),
    /** Number within a bucket of a lot. Unique, so that of two writers who read the same balance one fails. */
    seq: integer('seq').notNull(),
    /** The sum of the bucket's entries up to this one. */
    balance: integer('balance').notNull(),
    at: at('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.key, t.source, t.ends, t.bucket] }),
    foreignKey({
      name: 'credit_entries_movement',
      columns: [t.accountId, t.key],
      foreignColumns: [creditMovements.accountId, creditMovements.key],
    }),
    uniqueIndex('credit_entries_balance').on(t.accountId, t.bucket, t.source, t.ends, t.seq),
    // For the credits spent before the current month.
    index('credit_entries_spent').on(t.accountId, t.source, t.ends, t.at, t.seq).where(sql`bucket = 'spent'`),
    check('credit_entries_source', sql`source in ('included', 'purchased', 'overage')`),
    check('credit_entries_bucket', sql`bucket in ('issued', 'available', 'reserved', 'spent', 'settled', 'expired')`),
    check('credit_entries_month', sql`ends between 200001 and 999912 and ends % 100 between 1 and 12`),
    check('credit_entries_amount', sql`amount <> 0`),
    check('credit_entries_not_overdrawn', sql`case bucket when 'issued' then balance <= 0 else balance >= 0 end`),
  ],
);
