import { sql } from 'drizzle-orm';
import { index, integer, json, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { Cells, Layer } from '../core/table/table.ts';
import { at, bytea, count } from './columnTypes.ts';
import { changeTimes, inWorkbook, namedIgnoringCase, workbookId } from './commonColumns.ts';

export const tables = pgTable(
  'tables',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    ...namedIgnoringCase(),
    type: text('type', { enum: ['table', 'view', 'report'] })
      .notNull()
      .default('table'),
    layer: text('layer', { enum: ['base', 'derived', 'view'] }).notNull(),
    state: text('state', { enum: ['active', 'archived'] })
      .notNull()
      .default('active'),
    description: text('description'),
    editVersion: count('edit_version').notNull(),
    /** Never reused. After a crash a version number may be given again to other content. */
    versionUid: text('version_uid').notNull(),
    manifestId: text('manifest_id').notNull(),
    /** The version at which the columns last changed. */
    schemaVersion: count('schema_version').notNull(),
    rowCount: count('row_count').notNull(),
    nextRowId: count('next_row_id').notNull(),
    nextColumnId: integer('next_column_id').notNull(),
    /** Number of log entries that are not in files of the current manifest; compaction reduces it. */
    tailCount: integer('tail_count').notNull().default(0),
    /** Bytes of the files of the current manifest, and of the log entries on top of them. */
    fileBytes: count('file_bytes').notNull().default(0),
    tailBytes: count('tail_bytes').notNull().default(0),
    ...changeTimes(),
    deletedAt: at('deleted_at'),
  },
  (t) => [
    // SQL ignores the case of names, so two tables must not differ only by case.
    uniqueIndex('tables_name').on(t.workbookId, t.nameKey).where(sql`state = 'active' AND deleted_at IS NULL`),
    index('tables_name_key').on(t.workbookId, t.nameKey),
    index('tables_workbook').on(t.workbookId, t.id),
    index('tables_account').on(t.accountId),
  ],
);

const tableId = () =>
  text('table_id')
    .notNull()
    .references(() => tables.id);

/** An ordered list of layers. Never changed: a version's content depends only on its manifest and number. */
export const manifests = pgTable(
  'manifests',
  {
    id: text('id').primaryKey(),
    tableId: tableId(),
    layers: jsonb('layers').$type<Layer[]>().notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [index('manifests_table').on(t.tableId)],
);

export const tableVersions = pgTable(
  'table_versions',
  {
    tableId: tableId(),
    editVersion: count('edit_version').notNull(),
    uid: text('uid').notNull(),
    manifestId: text('manifest_id').notNull(),
    schemaVersion: count('schema_version').notNull(),
    rowCount: count('row_count').notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.editVersion] })],
);

/** Columns by stable id, valid for versions `from <= v < to`. A rename is a new row with the same id, a retype a new id. */
export const tableColumns = pgTable(
  'table_columns',
  {
    tableId: tableId(),
    /** Copied from the table, because row security checks every row, and a wide table has thousands of columns. */
    accountId: text('account_id').notNull(),
    columnId: integer('column_id').notNull(),
    fromVersion: count('from_version').notNull(),
    toVersion: count('to_version'),
    name: text('name').notNull(),
    type: text('type').notNull(),
    /** The value, as canonical text, of rows written before the column was added. */
    defaultText: text('default_text'),
    position: integer('position').notNull(),
    description: text('description'),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.columnId, t.fromVersion] })],
);

/**
 * Log of edits: the whole row after the change, the changed columns, and their values before. Old entries are moved to
 * `log_files` of the kind `log`.
 */
export const rowLog = pgTable(
  'row_log',
  {
    tableId: text('table_id').notNull(),
    editVersion: count('edit_version').notNull(),
    rowId: count('row_id').notNull(),
    op: text('op', { enum: ['I', 'U', 'D'] }).notNull(),
    /** Column ids. */
    changed: integer('changed').array().notNull(),
    /** Canonical text or null by column id. `json` keeps texts unchanged. Null: the row was removed. */
    cells: json('cells').$type<Cells>(),
    before: json('before').$type<Cells>(),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.editVersion, t.rowId] }), index('row_log_row').on(t.tableId, t.rowId, t.editVersion)],
);

/**
 * Log entries in files instead of `row_log`. They are kept as long as the table, because history reads them. `delta`: a large
 * edit, with op, changed columns and values before. `insert`: a segment of new rows. `log`: entries moved from `row_log` because
 * no layer of the current version needs them; `row_log` has no entries up to the last of these files.
 */
export const logFiles = pgTable(
  'log_files',
  {
    tableId: tableId(),
    key: text('key').notNull(),
    kind: text('kind', { enum: ['delta', 'insert', 'log'] }).notNull(),
    /** Entries with `after < edit_version <= up_to`. */
    after: count('after').notNull(),
    upTo: count('up_to').notNull(),
    rows: integer('rows').notNull(),
    minRow: count('min_row').notNull(),
    maxRow: count('max_row').notNull(),
    bytes: count('bytes').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.upTo, t.key] })],
);

/** Style and notes on cells, rows, columns or the table. Row 0 and column 0 stand for "none". */
export const annotations = pgTable(
  'annotations',
  {
    tableId: tableId(),
    rowId: count('row_id').notNull().default(0),
    columnId: integer('column_id').notNull().default(0),
    style: jsonb('style').$type<Record<string, unknown>>(),
    note: text('note'),
    actor: text('actor').notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.rowId, t.columnId] })],
);

export const snapshots = pgTable(
  'snapshots',
  {
    id: text('id').primaryKey(),
    workbookId: workbookId(),
    summary: text('summary').notNull(),
    eventType: text('event_type').notNull(),
    userId: text('user_id'),
    actor: text('actor').notNull(),
    /** Edits from this time on belong to it. */
    openedAt: at('opened_at').notNull(),
    committedAt: at('committed_at').notNull(),
    /** The id of the next snapshot, which gets its row when it is committed. */
    nextId: text('next_id').notNull(),
  },
  (t) => [index('snapshots_workbook').on(t.workbookId, t.id)],
);

/** The version, name and state of each table in a snapshot. */
export const snapshotTables = pgTable(
  'snapshot_tables',
  {
    snapshotId: text('snapshot_id')
      .notNull()
      .references(() => snapshots.id),
    tableId: tableId(),
    name: text('name').notNull(),
    state: text('state', { enum: ['active', 'archived'] }).notNull(),
    description: text('description'),
    editVersion: count('edit_version').notNull(),
    versionUid: text('version_uid').notNull(),
  },
  (t) => [primaryKey({ columns: [t.snapshotId, t.tableId] }), index('snapshot_tables_table').on(t.tableId)],
);

/** Immutable labels on snapshots. */
export const namedVersions = pgTable(
  'named_versions',
  {
    workbookId: workbookId(),
    label: text('label').notNull(),
    snapshotId: text('snapshot_id')
      .notNull()
      .references(() => snapshots.id),
    summary: text('summary'),
    userId: text('user_id'),
    createdAt: at('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workbookId, t.label] }), index('named_versions_snapshot').on(t.snapshotId)],
);

/** A table that a query has read. */
export interface ReadTable {
  id: string;
  name: string;
  edit_version: number;
  uid: string;
  /** What policies hid of it, in short. Absent: nothing. */
  hidden?: string;
}

/** Results of queries, kept for a day. */
export const results = pgTable(
  'results',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    userId: text('user_id').notNull(),
    /** The result's file in the blob store; a small one is in `content` instead. */
    blobKey: text('blob_key'),
    content: bytea('content'),
    /** `file`: the bytes of a Parquet file. `rows`: objects of JSON, a line each. `packed`: the same, compressed. */
    contentForm: text('content_form').$type<'file' | 'rows' | 'packed'>().notNull().default('file'),
    /** What was asked, by which it is found when it is asked again. Null: the next answer would be another. */
    askedKey: text('asked_key'),
    /** What decides the answer. While that is the same, so is the answer. */
    answerKey: text('answer_key'),
    /** What it takes: the file or the content, and what is said of it. */
    bytes: count('bytes').notNull().default(0),
    columns: jsonb('columns').$type<{ name: string; type: string }[]>().notNull(),
    rowCount: count('row_count').notNull(),
    elapsedMs: integer('elapsed_ms').notNull().default(0),
    /** The tables that were read, with their versions. */
    tables: jsonb('tables').$type<ReadTable[]>().notNull(),
    maskedColumns: jsonb('masked_columns').$type<string[]>().notNull(),
    createdAt: at('created_at').notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [
    index('results_expiry').on(t.expiresAt),
    index('results_account').on(t.accountId, t.expiresAt),
    index('results_workbook').on(t.workbookId),
    index('results_asked').on(t.askedKey).where(sql`asked_key IS NOT NULL`),
  ],
);

/** Blobs that nothing referred to at the last check. They are deleted if that is still so a day later. */
export const garbageBlobs = pgTable('garbage_blobs', {
  key: text('key').primaryKey(),
  seenAt: at('seen_at').notNull(),
});

/** A column of a branch, as it stands in the file. */
export interface BranchColumn {
  id: number;
  name: string;
  /** It was exported without its values. */
  masked: boolean;
}

/** Exports whose rows are the base of later merges: a row for each table of the file, all under one id. They stay open. */
export const branches = pgTable(
  'branches',
  {
    id: text('id').notNull(),
    tableId: tableId(),
    ...inWorkbook(),
    /** The place of the table in the file. */
    position: integer('position').notNull(),
    baseVersion: count('base_version').notNull(),
    baseUid: text('base_uid').notNull(),
    /** In the order of the file, without the row id. */
    columns: jsonb('columns').$type<BranchColumn[]>().notNull(),
    rowCount: count('row_count').notNull(),
    format: text('format', { enum: ['xlsx', 'csv'] }).notNull(),
    filename: text('filename').notNull(),
    actor: text('actor').notNull(),
    userId: text('user_id'),
    createdAt: at('created_at').notNull(),
    lastMergedAt: at('last_merged_at'),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.tableId] }),
    index('branches_workbook').on(t.workbookId, t.id),
    // For finding the versions that must be kept.
    index('branches_version').on(t.tableId, t.baseVersion),
  ],
);

/** Values that a merge or a run replaced although somebody had changed them: the review queue. */
export const conflicts = pgTable(
  'conflicts',
  {
    id: text('id').primaryKey(),
    tableId: tableId(),
    ...inWorkbook(),
    rowId: count('row_id').notNull(),
    /** 0 for the row as a whole: its values are row ids, null where there is no such row. */
    columnId: integer('column_id').notNull(),
    kind: text('kind', { enum: ['overwrite', 'stale_override'] }).notNull(),
    status: text('status', { enum: ['open', 'acknowledged', 'reverted', 'override_dropped'] }).notNull(),
    base: text('base'),
    prior: text('prior'),
    current: text('current'),
    branchId: text('branch_id'),
    /** The version that replaced the value. */
    editVersion: count('edit_version').notNull(),
    createdAt: at('created_at').notNull(),
    resolvedAt: at('resolved_at'),
    resolvedBy: text('resolved_by'),
  },
  (t) => [
    index('conflicts_workbook').on(t.workbookId, t.id),
    index('conflicts_status').on(t.workbookId, t.status, t.id),
    index('conflicts_table').on(t.tableId),
    index('conflicts_open_override').on(t.tableId).where(sql`kind = 'stale_override' AND status = 'open'`),
  ],
);
