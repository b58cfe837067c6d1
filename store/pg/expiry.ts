import type { BlobStore } from '../blobs/blobStore.ts';
import { workbookPrefix } from '../blobs/keys.ts';
import type { Database } from './database.ts';
import { repeatInBatches } from './repeatInBatches.ts';

/** How many rows were deleted, by kind. Every sweep can be repeated or interrupted safely. */
export type Expired = Record<
  | 'idempotency_records'
  | 'sessions'
  | 'login_attempts'
  | 'mcp_events'
  | 'mcp_sessions'
  | 'rate_windows'
  | 'request_counts'
  | 'results'
  | 'workbooks'
  | 'jobs'
  | 'job_drafts'
  | 'uploads',
  number
>;

const batchRows = 1000;
const purgeBatchRows = 20_000;

/**
 * Deletes what has expired, in batches, so that no lock is held for long; calls `onBatch` after each. Workbooks are purged
 * only when `blobs` is given, because their blobs are removed with them.
 */
export async function deleteExpired(db: Database, onBatch: () => void, blobs?: BlobStore): Promise<Expired> {
  const sweep = (statement: string) => repeatInBatches(db.pool, batchRows, statement, onBatch);
  const rows = (table: string, condition: string) =>
    sweep(`DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batchRows})`);
  // The content of a result is deleted when it expires. The row stays for a week, so that readers are told that it has expired.
  await sweep(
    `UPDATE results SET content = NULL WHERE ctid IN (SELECT ctid FROM results WHERE expires_at < now() AND content IS NOT NULL LIMIT ${batchRows})`,
  );
  return {
    idempotency_records: await rows('idempotency', 'expires_at < now()'),
    sessions: await rows('sessions', 'expires_at < now()'),
    login_attempts: await rows('login_attempts', "at < now() - interval '2 minutes'"),
    mcp_events: await rows('mcp_events', "created_at < now() - interval '10 minutes'"),
    mcp_sessions: await rows('mcp_sessions', "used_at < now() - interval '1 day'"),
    rate_windows: await rows('rate_windows', 'minute < extract(epoch FROM now()) / 60 - 5'),
    request_counts: await rows('request_counts', "at < now() - interval '400 days'"),
    jobs: await rows('jobs', "finished_at < now() - interval '7 days'"),
    job_drafts: await rows('job_drafts', 'NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = job_drafts.job_id AND finished_at IS NULL)'),
    uploads: await rows('uploads', "expires_at < now() - interval '7 days'"),
    results: await rows('results', "expires_at < now() - interval '7 days'"),
    workbooks: blobs ? await purgeWorkbooks(db, blobs, onBatch) : 0,
  };
}

/**
 * Purges workbooks 30 days after their deletion. The workbook's own row is deleted last, so that an interrupted purge is
 * resumed by the next sweep. The account's audit log still records the deletion.
 */
async function purgeWorkbooks(db: Database, blobs: BlobStore, onBatch: () => void): Promise<number> {
  const { rows } = await db.pool.query<{ id: string; account_id: string }>(
    "SELECT id, account_id FROM workbooks WHERE deleted_at < now() - interval '30 days' ORDER BY deleted_at LIMIT 100",
  );
  for (const { id, account_id } of rows) {
    const prefix = workbookPrefix({ accountId: account_id, id });
    for await (const { key } of blobs.list(prefix)) {
      await blobs.remove(key);
      onBatch();
    }
    await db.pool.query('DELETE FROM garbage_blobs WHERE starts_with(key, $1)', [`${prefix}/`]);
    await purgeTables(db, id, onBatch);
    for (const table of ['ops', 'audit_entries', 'outbox', 'audit_anchors', 'heads'])
      await db.pool.query(`DELETE FROM ${table} WHERE scope = $1`, [id]);
    await db.pool.query('DELETE FROM jobs WHERE workbook_id = $1', [id]);
    await db.pool.query('DELETE FROM workbooks WHERE id = $1', [id]);
    onBatch();
  }
  return rows.length;
}

/** Rows that refer to others are deleted before them. */
async function purgeTables(db: Database, workbookId: string, onBatch: () => void): Promise<void> {
  const ofTables = 'table_id IN (SELECT id FROM tables WHERE workbook_id = $1)';
  const parts: [string, string][] = [
    ['named_versions', 'workbook_id = $1'],
    ['snapshot_tables', ofTables],
    ['snapshots', 'workbook_id = $1'],
    ['results', 'workbook_id = $1'],
    ['row_log', ofTables],
    ['log_files', ofTables],
    ['annotations', ofTables],
    ['conflicts', 'workbook_id = $1'],
    ['branches', 'workbook_id = $1'],
    ['landings', ofTables],
    ['table_inputs', ofTables],
    ['transforms', 'workbook_id = $1'],
    ['sheets', 'workbook_id = $1'],
    ['charts', 'workbook_id = $1'],
    ['column_tags', 'workbook_id = $1'],
    ['policies', 'workbook_id = $1'],
    ['sync_bindings', 'workbook_id = $1'],
    ['table_columns', ofTables],
    ['table_versions', ofTables],
    ['manifests', ofTables],
    ['tables', 'workbook_id = $1'],
    ['sources', 'workbook_id = $1'],
    ['uploads', 'workbook_id = $1'],
  ];
  for (const [table, condition] of parts) {
    await repeatInBatches(
      db.pool,
      purgeBatchRows,
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${purgeBatchRows}))`,
      onBatch,
      [workbookId],
    );
  }
}
