import { sql } from 'drizzle-orm';
import { index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { at, count } from './columnTypes.ts';
import { inWorkbook } from './commonColumns.ts';
import { sources } from './sources.ts';
import { snapshots } from './tables.ts';

/** Files that people keep elsewhere. Each of their states feeds the source of the same name. */
export const fileLinks = pgTable(
  'file_links',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    name: text('name').notNull(),
    kind: text('kind', { enum: ['cloud', 'local'] }).notNull(),
    sourceId: text('source_id')
      .notNull()
      .references(() => sources.id),
    /** Of a drive file. */
    provider: text('provider', { enum: ['google_drive', 'onedrive'] }),
    fileId: text('file_id'),
    /** Where a local file lives, in the words of who tracks it. */
    origin: text('origin'),
    /** How often a drive file is looked at; null: never by itself. */
    every: text('every', { enum: ['hourly', 'daily', 'weekly'] }),
    /** In whose name a drive file is looked at: with their authorization, and with what they may do then. */
    userId: text('user_id').notNull(),
    credential: text('credential').notNull().default(''),
    actor: text('actor').notNull().default(''),
    /** When a drive file is looked at next; null: it is not followed. */
    nextLookAt: at('next_look_at'),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('file_links_name').on(t.workbookId, t.name),
    index('file_links_source').on(t.sourceId),
    index('file_links_due').on(t.nextLookAt).where(sql`next_look_at IS NOT NULL`),
  ],
);

export const fileLinkVersions = pgTable(
  'file_link_versions',
  {
    linkId: text('link_id')
      .notNull()
      .references(() => fileLinks.id),
    accountId: text('account_id').notNull(),
    n: integer('n').notNull(),
    kind: text('kind', { enum: ['link', 'sync', 'revert'] }).notNull(),
    filename: text('filename').notNull(),
    format: text('format', { enum: ['xlsx', 'csv', 'tsv'] }).notNull(),
    contentType: text('content_type').notNull(),
    size: count('size').notNull(),
    sha256: text('sha256').notNull(),
    blobKey: text('blob_key').notNull(),
    modifiedBy: text('modified_by'),
    modifiedAt: at('modified_at'),
    syncedAt: at('synced_at').notNull(),
    /** The workbook after its ingest. */
    snapshotId: text('snapshot_id')
      .notNull()
      .references(() => snapshots.id),
  },
  (t) => [primaryKey({ columns: [t.linkId, t.n] }), index('file_link_versions_snapshot').on(t.snapshotId)],
);
