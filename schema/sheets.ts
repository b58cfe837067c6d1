import { index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { StoredBlock } from '../core/sheets/blocks.ts';
import { changeTimes, inWorkbook, namedIgnoringCase } from './commonColumns.ts';
import { tables } from './tables.ts';

/** What is shown together on a sheet. Its blocks refer to tables and own nothing. */
export const sheets = pgTable(
  'sheets',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    ...namedIgnoringCase(),
    title: text('title'),
    blocks: jsonb('blocks').$type<StoredBlock[]>().notNull(),
    ...changeTimes(),
  },
  (t) => [uniqueIndex('sheets_name').on(t.workbookId, t.nameKey)],
);

export const charts = pgTable(
  'charts',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    ...namedIgnoringCase(),
    chartType: text('chart_type'),
    /** The table that it shows. */
    tableId: text('table_id').references(() => tables.id),
    title: text('title'),
    /** Vega-Lite. */
    config: jsonb('config').$type<Record<string, unknown>>().notNull(),
    /** The tool that made it, and its parameters. */
    recipe: jsonb('recipe').$type<Record<string, unknown>>(),
    ...changeTimes(),
  },
  (t) => [uniqueIndex('charts_name').on(t.workbookId, t.nameKey), index('charts_table').on(t.tableId)],
);
