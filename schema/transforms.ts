import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { at } from './columnTypes.ts';
import { tables } from './tables.ts';
import { workbooks } from './workbooks.ts';

/** What derives a table from others. */
export const transforms = pgTable(
  'transforms',
  {
    id: text('id').primaryKey(),
    workbookId: text('workbook_id')
      .notNull()
      .references(() => workbooks.id),
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    nameKey: text('name_key').notNull().generatedAlwaysAs(sql`lower(name)`),
    language: text('language', { enum: ['sql', 'python'] }).notNull(),
    template: text('template').notNull(),
    /** Argument to id of a table. */
    args: jsonb('args').$type<Record<string, string>>().notNull(),
    /** The name that the output gets when it is made. */
    output: text('output').notNull(),
    /** The table that it writes; null before its first run. */
    outputId: text('output_id').references(() => tables.id),
    /** Names of the output's key columns. */
    key: jsonb('key').$type<string[]>(),
    materialize: text('materialize', { enum: ['table', 'view'] }).notNull(),
    revision: integer('revision').notNull(),
    /** The revision that made the current output; null before the first run. */
    runRevision: integer('run_revision'),
    actor: text('actor').notNull(),
    userId: text('user_id'),
    lastRunAt: at('last_run_at'),
    lastError: text('last_error'),
    createdAt: at('created_at').notNull(),
    updatedAt: at('updated_at').notNull(),
    deletedAt: at('deleted_at'),
  },
  (t) => [
    uniqueIndex('transforms_name').on(t.workbookId, t.nameKey).where(sql`deleted_at IS NULL`),
    index('transforms_output').on(t.outputId),
  ],
);
