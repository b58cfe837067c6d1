import { date, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { at, count } from './columnTypes.ts';

/** What an account has, by UTC day: the last sample of the day. */
export const usageSamples = pgTable(
  'usage_samples',
  {
    accountId: text('account_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    storageBytes: count('storage_bytes').notNull(),
    tables: integer('tables').notNull(),
    at: at('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.day] })],
);

/** UTC days whose counts are rolled up: one row where there was one for every second. */
export const usageRollups = pgTable('usage_rollups', {
  day: date('day', { mode: 'string' }).primaryKey(),
  at: at('at').notNull(),
});
