import type pg from 'pg';
import { forfeitKey } from '../../core/credits/planForfeit.ts';
import type { BlobStore } from '../blobs/blobStore.ts';
import { workbookPrefix } from '../blobs/keys.ts';
import { repeatInBatches } from './repeatInBatches.ts';

const batchRows = 20_000;
/** A movement has two entries or more, and all of them are checked. */
const batchMovements = 4_000;

type Part = [table: string, condition: string];

const ofTables = 'table_id IN (SELECT id FROM tables WHERE workbook_id = $1)';

/** What belongs to a workbook ($1), but for its journal. Rows that refer to others are deleted before them. */
const workbookParts: Part[] = [
  ['file_link_versions', 'link_id IN (SELECT id FROM file_links WHERE workbook_id = $1)'],
  ['file_links', 'workbook_id = $1'],
  ['named_versions', 'workbook_id = $1'],
  ['snapshot_tables', ofTables],
  ['snapshots', 'workbook_id = $1'],
  ['results', 'workbook_id = $1'],
  ['row_log', ofTables],
  ['log_files', ofTables],
  ['annotations', ofTables],
  ['overrides', ofTables],
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
  ['derivations', ofTables],
  ['table_versions', ofTables],
  ['manifests', ofTables],
  ['tables', 'workbook_id = $1'],
  ['sources', 'workbook_id = $1'],
  ['uploads', 'workbook_id = $1'],
  ['layouts', 'workbook_id = $1'],
  ['job_drafts', 'job_id IN (SELECT id FROM jobs WHERE workbook_id = $1)'],
  ['jobs', 'workbook_id = $1'],
];

/** The journal of a workbook or account ($1), and where it ends. */
const journalParts: Part[] = [
  ['ops', 'scope = $1'],
  ['audit_entries', 'scope = $1'],
  ['outbox', 'scope = $1'],
  ['audit_anchors', 'scope = $1'],
];

/**
 * Removes a workbook with all its rows and blobs, in batches; calls `onBatch` after each. If it is interrupted, it can be begun
 * again. The account's audit log still records the deletion.
 */
export async function purgeWorkbook(
  pool: pg.Pool,
  blobs: BlobStore,
  workbook: { id: string; accountId: string },
  onBatch: () => void,
): Promise<void> {
  const prefix = workbookPrefix(workbook);
  await blobs.removeAll(prefix, onBatch);
  await pool.query('DELETE FROM garbage_blobs WHERE starts_with(key, $1)', [`${prefix}/`]);
  for (const part of [...workbookParts, ...journalParts]) await deleteInBatches(pool, part, workbook.id, onBatch);
  await inTransaction(pool, async (client) => {
    await deleteJournal(client, workbook.id);
    await client.query('DELETE FROM workbooks WHERE id = $1', [workbook.id]);
  });
}

const ofWorkspaces = 'workspace_id IN (SELECT id FROM workspaces WHERE account_id = $1)';

/** What belongs to an account ($1) and to none of its workbooks, in the same order. The credit books and the account follow. */
const accountParts: Part[] = [
  ['members', ofWorkspaces],
  ['workspaces', 'account_id = $1'],
  ['job_drafts', 'job_id IN (SELECT id FROM jobs WHERE account_id = $1)'],
  ['jobs', 'account_id = $1'],
  ['mcp_events', 'session_hash IN (SELECT id_hash FROM mcp_sessions WHERE account_id = $1)'],
  ['mcp_sessions', 'account_id = $1'],
  ['deliveries', 'webhook_id IN (SELECT id FROM webhooks WHERE account_id = $1)'],
  ['webhooks', 'account_id = $1'],
  ['credentials', 'account_id = $1'],
  ['drive_grants', 'account_id = $1'],
  ['billing_sessions', 'account_id = $1'],
  ['billing_profiles', 'account_id = $1'],
  ['billing_events', 'account_id = $1'],
  ['charges', 'account_id = $1'],
  ['payments', 'account_id = $1'],
  ['structurings', 'account_id = $1'],
  ['usage_entries', 'account_id = $1'],
  ['usage_samples', 'account_id = $1'],
  ['request_counts', 'account_id = $1'],
  ['idempotency', "starts_with(scope, $1 || ' ')"],
  ['garbage_blobs', "starts_with(key, $1 || '/')"],
];

/**
 * Removes the rows of an account without workbooks, in batches. Only in the transaction that removes the account none follow. Of the
 * credit books the last movement stays until then: it tells what was forfeited.
 */
export async function purgeAccountRows(pool: pg.Pool, accountId: string, onBatch: () => void): Promise<void> {
  for (const part of [...accountParts, ...journalParts]) await deleteInBatches(pool, part, accountId, onBatch);
  for (let removed = batchMovements; removed === batchMovements; onBatch()) {
    const shorten = 'SELECT svc_shorten_books($1, $2, $3) AS removed';
    const { rows } = await pool.query<{ removed: number }>(shorten, [accountId, forfeitKey, batchMovements]);
    removed = rows[0]?.removed ?? 0;
  }
}

/** Runs inside a transaction that has locked the account: the last rows, the credit books, and the account itself. */
export async function deleteAccount(client: pg.PoolClient, accountId: string): Promise<void> {
  await deleteJournal(client, accountId);
  for (const part of accountParts) await deleteRows(client, part, accountId);
  await client.query('SELECT svc_close_books($1)', [accountId]);
  await client.query('DELETE FROM accounts WHERE id = $1', [accountId]);
}

/** With its deliveries. */
export async function purgeWebhook(pool: pg.Pool, webhookId: string, onBatch: () => void): Promise<void> {
  await deleteInBatches(pool, ['deliveries', 'webhook_id = $1'], webhookId, onBatch);
  await pool.query('DELETE FROM webhooks WHERE id = $1', [webhookId]);
}

/** Deliveries of what happened in an account, to webhooks of other accounts. Run it across accounts. */
export async function purgeDeliveriesAbout(pool: pg.Pool, accountId: string, onBatch: () => void): Promise<void> {
  const scopes = 'SELECT id FROM workbooks WHERE account_id = $1 UNION ALL SELECT $1';
  await deleteInBatches(pool, ['deliveries', `scope IN (${scopes})`], accountId, onBatch);
}

/** Changes that are being written wait for the head of the journal, or are waited for; after this there can be none. */
async function deleteJournal(client: pg.PoolClient, scope: string): Promise<void> {
  await client.query('SELECT 1 FROM heads WHERE scope = $1 FOR UPDATE', [scope]);
  for (const part of journalParts) await deleteRows(client, part, scope);
  await client.query('DELETE FROM heads WHERE scope = $1', [scope]);
}

/** A row that is changed meanwhile has another place then, so a batch passes it over: the last statement does not. */
async function deleteInBatches(pool: pg.Pool, part: Part, id: string, onBatch: () => void): Promise<void> {
  const [table, condition] = part;
  const batch = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batchRows}))`;
  await repeatInBatches(pool, batchRows, batch, onBatch, [id]);
  await deleteRows(pool, part, id);
}

async function deleteRows(client: Pick<pg.PoolClient, 'query'>, [table, condition]: Part, id: string): Promise<void> {
  await client.query(`DELETE FROM ${table} WHERE ${condition}`, [id]);
}

async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
