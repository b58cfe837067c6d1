import { sql } from 'drizzle-orm';
import { foreignKey, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { DerivedFrom } from '../core/lineage/consistent.ts';
import { at, count } from './columnTypes.ts';
import { changeTimes, inWorkbook, namedIgnoringCase } from './commonColumns.ts';
import { tables, tableVersions } from './tables.ts';

/** What derives a table from others. */
export const transforms = pgTable(
  'transforms',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    ...namedIgnoringCase(),
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
    ...changeTimes(),
    deletedAt: at('deleted_at'),
  },
  (t) => [
    uniqueIndex('transforms_name').on(t.workbookId, t.nameKey).where(sql`deleted_at IS NULL`),
    index('transforms_output').on(t.outputId),
    index('transforms_workbook').on(t.workbookId),
  ],
);

/** Cells of derived tables that somebody has set, from a version to another. They stay on top of what later runs give. */
export const overrides = pgTable(
  'overrides',
  {
    tableId: text('table_id')
      .notNull()
      .references(() => tables.id),
    accountId: text('account_id').notNull(),
    rowId: count('row_id').notNull(),
    columnId: integer('column_id').notNull(),
    fromVersion: count('from_version').notNull(),
    /** The version that has it no more; null while it holds. */
    toVersion: count('to_version'),
    /** Canonical text. */
    value: text('value'),
    /** What the last run gave for the cell. */
    below: text('below'),
  },
  (t) => [
    primaryKey({ columns: [t.tableId, t.rowId, t.columnId, t.fromVersion] }),
    index('overrides_live').on(t.tableId).where(sql`to_version IS NULL`),
  ],
);

/** What versions of derived tables were made from, by the last run that gave them. They go with their versions. */
export const derivations = pgTable(
  'derivations',
  {
    tableId: text('table_id').notNull(),
    accountId: text('account_id').notNull(),
    editVersion: count('edit_version').notNull(),
    transformId: text('transform_id').notNull(),
    revision: integer('revision').notNull(),
    inputs: jsonb('inputs').$type<DerivedFrom[]>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tableId, t.editVersion] }),
    foreignKey({
      name: 'derivations_version',
      columns: [t.tableId, t.editVersion],
      foreignColumns: [tableVersions.tableId, tableVersions.editVersion],
    }).onDelete('cascade'),
  ],
);
