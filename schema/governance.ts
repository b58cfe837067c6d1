import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { PolicyEffect } from '../core/policy/decideEffect.ts';
import { at } from './columnTypes.ts';
import { changeTimes, inWorkbook } from './commonColumns.ts';
import { tables } from './tables.ts';

const tableId = () =>
  text('table_id')
    .notNull()
    .references(() => tables.id);

/** Tags of columns. They stay when a column is dropped, because older versions have it still. */
export const columnTags = pgTable(
  'column_tags',
  {
    tableId: tableId(),
    ...inWorkbook(),
    columnId: integer('column_id').notNull(),
    tag: text('tag').notNull(),
    /** `removed`: somebody took it off, and it does not flow to the column again. */
    origin: text('origin', { enum: ['direct', 'inherited', 'removed'] }).notNull(),
    /** The column that it flowed from. */
    fromTable: text('from_table'),
    fromColumn: integer('from_column'),
    actor: text('actor').notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.columnId, t.tag] }), index('column_tags_workbook').on(t.workbookId)],
);

/** What is done to columns with a tag, by role. */
export const policies = pgTable(
  'policies',
  {
    ...inWorkbook(),
    tag: text('tag').notNull(),
    role: text('role').notNull(),
    effect: text('effect').$type<PolicyEffect>().notNull(),
    actor: text('actor').notNull(),
    ...changeTimes(),
  },
  (t) => [primaryKey({ columns: [t.workbookId, t.tag, t.role] })],
);

/** Tables that somebody maps to sheets elsewhere. Nothing is synchronized. */
export const syncBindings = pgTable(
  'sync_bindings',
  {
    id: text('id').primaryKey(),
    tableId: tableId(),
    ...inWorkbook(),
    externalKind: text('external_kind', { enum: ['google_sheets', 'onedrive'] }).notNull(),
    externalRef: text('external_ref').notNull(),
    direction: text('direction', { enum: ['pull', 'push', 'bidirectional'] }).notNull(),
    ownershipMap: jsonb('ownership_map').$type<Record<string, string>>(),
    actor: text('actor').notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('sync_bindings_sheet').on(t.workbookId, t.externalKind, t.externalRef),
    index('sync_bindings_table').on(t.tableId, t.id),
  ],
);
