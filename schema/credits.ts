import { sql } from 'drizzle-orm';
import { check, foreignKey, index, integer, pgTable, primaryKey, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core';

const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** Why credits moved. The key is what makes a retry change nothing: `grant:2026-11`, `reserve:<job>`, `close:<job>`. */
export const creditMovements = pgTable(
  'credit_movements',
  {
    accountId: text('account_id').notNull(),
    key: text('key').notNull(),
    kind: text('kind', { enum: ['grant', 'purchase', 'reserve', 'settle', 'release', 'expire'] }).notNull(),
    /** The job or the payment it is about. */
    ref: text('ref'),
    workbookId: text('workbook_id'),
    at: at('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.key] }),
    check('credit_movements_kind', sql`kind in ('grant', 'purchase', 'reserve', 'settle', 'release', 'expire')`),
  ],
);

/**
 * The books. Each movement takes from one bucket of a lot and puts into another, so that it sums to zero in every lot. A lot is
 * credits that came the same way and end with the same month. Rows are only ever added: triggers number
 * them and carry the balance on, refuse a movement that does not sum to zero, and refuse changes.
 */
export const creditEntries = pgTable(
  'credit_entries',
  {
    accountId: text('account_id').notNull(),
    key: text('key').notNull(),
    source: text('source', { enum: ['included', 'purchased'] }).notNull(),
    /** The last month they can be spent in, as 202611; 999912 is never reached. */
    ends: integer('ends').notNull(),
    /** Where they stand. All credits come out of `issued`, which is as far below zero as the others are above it. */
    bucket: text('bucket', { enum: ['issued', 'available', 'reserved', 'spent', 'expired'] }).notNull(),
    amount: integer('amount').notNull(),
    /** Counts the entries of one bucket of a lot. Unique: two writers that have seen the same balance cannot both go on. */
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
    // What had been spent when a month began.
    index('credit_entries_spent').on(t.accountId, t.source, t.ends, t.at, t.seq).where(sql`bucket = 'spent'`),
    check('credit_entries_source', sql`source in ('included', 'purchased')`),
    check('credit_entries_bucket', sql`bucket in ('issued', 'available', 'reserved', 'spent', 'expired')`),
    check('credit_entries_month', sql`ends between 200001 and 999912 and ends % 100 between 1 and 12`),
    check('credit_entries_amount', sql`amount <> 0`),
    check('credit_entries_not_overdrawn', sql`case bucket when 'issued' then balance <= 0 else balance >= 0 end`),
  ],
);
