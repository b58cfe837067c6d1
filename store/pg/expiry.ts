import type { BlobStore } from '../blobs/blobStore.ts';
import type { Database } from './database.ts';
import { purgeWorkbook } from './purge.ts';
import { repeatInBatches } from './repeatInBatches.ts';

/** How many rows were deleted, by kind. Every sweep can be repeated or interrupted safely. */
export type Expired = Record<
  | 'idempotency_records'
  | 'sessions'
  | 'login_attempts'
  | 'deliveries'
  | 'events'
  | 'mcp_events'
  | 'mcp_sessions'
  | 'rate_windows'
  | 'request_counts'
  | 'billing_sessions'
  | 'billing_events'
  | 'usage_entries'
  | 'usage_samples'
  | 'results'
  | 'workbooks'
  | 'jobs'
  | 'job_drafts'
  | 'uploads',
  number
>;

const batchRows = 1000;

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
    deliveries: await rows('deliveries', "created_at < now() - interval '30 days'"),
    // Those published first are the oldest, so no others need to be looked at.
    events: await sweep(
      `DELETE FROM outbox WHERE ctid IN (SELECT ctid FROM (
         SELECT ctid, created_at FROM outbox WHERE position IS NOT NULL ORDER BY position LIMIT ${batchRows}) AS oldest
       WHERE created_at < now() - interval '30 days')`,
    ),
    mcp_events: await rows('mcp_events', "created_at < now() - interval '10 minutes'"),
    mcp_sessions: await rows('mcp_sessions', "used_at < now() - interval '1 day'"),
    rate_windows: await rows('rate_windows', 'minute < extract(epoch FROM now()) / 60 - 5'),
    request_counts: await rows('request_counts', "at < now() - interval '400 days'"),
    billing_sessions: await rows('billing_sessions', "expires_at < now() - interval '7 days'"),
    billing_events: await rows('billing_events', "at < now() - interval '30 days'"),
    usage_entries: await rows('usage_entries', "at < now() - interval '400 days'"),
    usage_samples: await rows('usage_samples', 'day < current_date - 400'),
    jobs: await rows('jobs', "finished_at < now() - interval '7 days'"),
    job_drafts: await rows('job_drafts', 'NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = job_drafts.job_id AND finished_at IS NULL)'),
    uploads: await rows('uploads', "expires_at < now() - interval '7 days'"),
    results: await rows('results', "expires_at < now() - interval '7 days'"),
    workbooks: blobs ? await purgeWorkbooks(db, blobs, onBatch) : 0,
  };
}

/** Purges workbooks 30 days after their deletion. An interrupted purge is resumed by the next sweep. */
async function purgeWorkbooks(db: Database, blobs: BlobStore, onBatch: () => void): Promise<number> {
  const { rows } = await db.pool.query<{ id: string; accountId: string }>(
    `SELECT id, account_id AS "accountId" FROM workbooks WHERE deleted_at < now() - interval '30 days' ORDER BY deleted_at LIMIT 100`,
  );
  for (const workbook of rows) await purgeWorkbook(db.pool, blobs, workbook, onBatch);
  return rows.length;
}
