import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { StoredBlock } from '../core/sheets/blocks.ts';
import { at } from './columnTypes.ts';
import { tables } from './tables.ts';
import { workbooks } from './workbooks.ts';

/** What is shown together on a sheet. Its blocks refer to tables and own nothing. */
export const sheets = pgTable(
  'sheets',
  {
    id: text('id').primaryKey(),
    workbookId: text('workbook_id')
      .notNull()
      .references(() => workbooks.id),
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    nameKey: text('name_key').notNull().generatedAlwaysAs(sql`lower(name)`),
    title: text('title'),
    blocks: jsonb('blocks').$type<StoredBlock[]>().notNull(),
    createdAt: at('created_at').notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [uniqueIndex('sheets_name').on(t.workbookId, t.nameKey)],
);

export const charts = pgTable(
  'charts',
  {
    id: text('id').primaryKey(),
    workbookId: text('workbook_id')
      .notNull()
      .references(() => workbooks.id),
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    nameKey: text('name_key').notNull().generatedAlwaysAs(sql`lower(name)`),
    chartType: text('chart_type'),
    /** The table that it shows. */
    tableId: text('table_id').references(() => tables.id),
    title: text('title'),
    /** Vega-Lite. */
    config: jsonb('config').$type<Record<string, unknown>>().notNull(),
    /** The tool that made it, and its parameters. */
    recipe: jsonb('recipe').$type<Record<string, unknown>>(),
    createdAt: at('created_at').notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [uniqueIndex('charts_name').on(t.workbookId, t.nameKey), index('charts_table').on(t.tableId)],
);
