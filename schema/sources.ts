import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { Flows } from '../core/lineage/flows.ts';
import { recordFormats } from '../core/records/records.ts';
import type { Layout } from '../core/structuring/learning/layouts.ts';
import type { ParseSpec } from '../core/structuring/spec/spec.ts';
import { at, count } from './columnTypes.ts';
import { changeTimes, inWorkbook } from './commonColumns.ts';
import { tables } from './tables.ts';
import { jobs } from './workbooks.ts';

/** Where the bytes of a source came from. */
export interface SourceProvenance {
  kind: 'upload' | 'upload_slot' | 'url' | 'cloud' | 'file_link';
  at: string;
  url?: string;
  provider?: 'google_drive' | 'onedrive';
  file_id?: string;
  link_id?: string;
}

/** The used part of a sheet, to validate a parse spec without reading the file again. */
export interface SheetExtent {
  name: string;
  /** Last used row and column, 1-based. */
  rows: number;
  columns: number;
  cells: number;
}

/** Uploaded original files. The bytes of a revision never change; `revise` makes the next revision. */
export const sources = pgTable(
  'sources',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    userId: text('user_id'),
    name: text('name').notNull(),
    filename: text('filename').notNull(),
    mode: text('mode', { enum: ['auto', 'staged'] }).notNull(),
    status: text('status', { enum: ['registered', 'analyzing', 'analyzed', 'ingesting', 'materialized', 'failed'] }).notNull(),
    format: text('format', { enum: ['xlsx', 'csv', 'tsv', ...recordFormats] }).notNull(),
    contentType: text('content_type').notNull(),
    size: count('size').notNull(),
    sha256: text('sha256').notNull(),
    blobKey: text('blob_key').notNull(),
    revision: integer('revision').notNull().default(1),
    provenance: jsonb('provenance').$type<SourceProvenance>().notNull(),
    structuring: text('structuring', { enum: ['structured', 'skipped', 'deferred', 'raw_fallback', 'off'] }),
    structuringReason: text('structuring_reason'),
    /** A short message for people, if the status is `failed`. */
    error: text('error'),
    /** The job that works on it right now. */
    jobId: text('job_id'),
    specVersion: integer('spec_version').notNull().default(0),
    spec: jsonb('spec').$type<ParseSpec>(),
    extents: jsonb('extents').$type<SheetExtent[]>(),
    ...changeTimes(),
  },
  (t) => [
    uniqueIndex('sources_name').on(t.workbookId, t.name),
    index('sources_content').on(t.workbookId, t.sha256),
    index('sources_account').on(t.accountId),
  ],
);

/** One row for each time that rows of a source were added to a table. */
export const landings = pgTable(
  'landings',
  {
    tableId: text('table_id')
      .notNull()
      .references(() => tables.id),
    /** The name given by structuring; the table's name can differ, because it must be unique in the workbook. */
    builtName: text('built_name').notNull(),
    /** The version that added the rows. */
    editVersion: count('edit_version').notNull(),
    sourceId: text('source_id')
      .notNull()
      .references(() => sources.id),
    revision: integer('revision').notNull(),
    /** `appended`: the rows were added to an existing table. */
    role: text('role', { enum: ['raw', 'data', 'level', 'computed', 'accounts', 'notes', 'appended'] }).notNull(),
    /** The order of tables within the source. */
    position: integer('position').notNull(),
    sheet: text('sheet').notNull(),
    regionId: text('region_id'),
    /** A1 range of the region. */
    range: text('range'),
    minRow: count('min_row').notNull(),
    maxRow: count('max_row').notNull(),
    /** In a raw table, a row's id minus this is its row in the sheet. */
    rowBase: count('row_base').notNull(),
    /** The file with the source cells of each row; raw tables need none. */
    provenanceKey: text('provenance_key'),
    /** The file with formulas, and with stored values that differ from the shown ones. */
    keptKey: text('kept_key'),
    keptFormulas: integer('kept_formulas').notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.editVersion, t.position] }), index('landings_source').on(t.sourceId, t.revision)],
);

/** The tables that a table was made from. `structuring`: from the raw table of its sheet. */
export const tableInputs = pgTable(
  'table_inputs',
  {
    tableId: text('table_id')
      .notNull()
      .references(() => tables.id),
    inputId: text('input_id')
      .notNull()
      .references(() => tables.id),
    kind: text('kind', { enum: ['structuring', 'transform'] }).notNull(),
    /** The version that the last run read; null for what was structured. */
    inputVersion: count('input_version'),
    /** What a change of the input changes in the table, by column ids. Null: everything changes everything. */
    flows: jsonb('flows').$type<Flows>(),
    /** Since when the input has moved on in something that the table uses. */
    staleSince: at('stale_since'),
    /** The columns of the input that changed since; null: rows came or went, or all may have changed. */
    staleColumns: integer('stale_columns').array(),
  },
  (t) => [primaryKey({ columns: [t.tableId, t.inputId] }), index('table_inputs_input').on(t.inputId)],
);

/** Content that an account has paid to structure, or that is being structured now. */
export const structurings = pgTable(
  'structurings',
  {
    accountId: text('account_id').notNull(),
    contentHash: text('content_hash').notNull(),
    state: text('state', { enum: ['building', 'ready'] }).notNull(),
    jobId: text('job_id').notNull(),
    /** The file name that the names in the spec were derived from. */
    filename: text('filename').notNull(),
    spec: jsonb('spec').$type<ParseSpec>(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.contentHash] })],
);

/** Layouts of sheets that people corrected, by what they are known by; they go with the workbook in which that was. */
export const layouts = pgTable(
  'layouts',
  {
    ...inWorkbook(),
    fingerprint: text('fingerprint').notNull(),
    layout: jsonb('layout').$type<Layout>().notNull(),
    correctedAt: at('corrected_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.fingerprint] }), index('layouts_workbook').on(t.workbookId)],
);

/** What a job has prepared but not committed: files in the blob store and the tables to make of them. */
export const jobDrafts = pgTable(
  'job_drafts',
  {
    jobId: text('job_id')
      .notNull()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    stage: text('stage').notNull(),
    draft: jsonb('draft').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.stage] })],
);

/** Upload slots: a signed URL takes the bytes of one file. */
export const uploads = pgTable(
  'uploads',
  {
    id: text('id').primaryKey(),
    ...inWorkbook(),
    userId: text('user_id').notNull(),
    /** Who opened the slot; the journal names them as the actor of the ingest. */
    actorName: text('actor_name').notNull(),
    credential: text('credential').notNull(),
    filename: text('filename').notNull(),
    contentType: text('content_type'),
    mode: text('mode', { enum: ['auto', 'staged'] }).notNull(),
    structuring: text('structuring', { enum: ['auto', 'skip', 'defer'] }).notNull(),
    sha256: text('sha256'),
    jobId: text('job_id'),
    sourceId: text('source_id'),
    createdAt: at('created_at').notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [index('uploads_workbook').on(t.workbookId, t.id), index('uploads_expiry').on(t.expiresAt)],
);
