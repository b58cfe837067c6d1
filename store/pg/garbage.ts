import type pg from 'pg';
import { repeatInBatches } from './repeatInBatches.ts';

/** Statements may be those of one connection. */
type Queryable = Pick<pg.Client, 'query'>;

const batchRows = 1000;

/** How long a version stays readable after the next one was made. */
const keptFor = "interval '30 days'";

/**
 * Versions of tables that must be kept. Code that refers to versions from a new place must add a SELECT here.
 * A landing is the base when its file is revised; a row that a merge deleted is brought back from the version before.
 */
const pinnedVersions = `
  SELECT table_id, edit_version FROM snapshot_tables
  UNION ALL
  SELECT table_id, base_version FROM branches
  UNION ALL
  SELECT l.table_id, l.edit_version FROM landings l JOIN sources s ON s.id = l.source_id AND s.revision = l.revision AND l.role <> 'appended'
  UNION ALL
  SELECT table_id, edit_version - 1 FROM conflicts WHERE status = 'open' AND column_id = 0
  UNION ALL
  SELECT entry->>'id', (entry->>'edit_version')::bigint FROM results, jsonb_array_elements(tables) AS part(entry) WHERE expires_at > now()`;

/**
 * Keys of a workbook's ($1) blobs that must be kept. Code that stores keys in a new place must add a SELECT here, and its
 * part of the key space to `isCollected`.
 */
const referencedKeys = `
  SELECT entry->>'key' AS key FROM tables t JOIN manifests m ON m.table_id = t.id, jsonb_array_elements(m.layers) AS part(entry)
  WHERE t.workbook_id = $1 AND entry ? 'key'
  UNION
  SELECT f.key FROM tables t JOIN log_files f ON f.table_id = t.id WHERE t.workbook_id = $1
  UNION
  SELECT blob_key FROM results WHERE workbook_id = $1 AND blob_key IS NOT NULL AND expires_at > now()
  UNION
  SELECT unnest(ARRAY[l.provenance_key, l.kept_key]) FROM tables t JOIN landings l ON l.table_id = t.id WHERE t.workbook_id = $1
  UNION
  SELECT blob_key FROM sources WHERE workbook_id = $1
  UNION
  SELECT v.blob_key FROM file_links l JOIN file_link_versions v ON v.link_id = l.id WHERE l.workbook_id = $1
  UNION
  SELECT input->'revise'->>'blobKey' FROM jobs WHERE workbook_id = $1 AND finished_at IS NULL
  UNION
  SELECT key #>> '{}' FROM jobs j JOIN job_drafts d ON d.job_id = j.id,
    LATERAL (SELECT jsonb_path_query(d.draft, '$.**.key') UNION SELECT jsonb_path_query(d.draft, '$.**.provenanceKey')) AS part(key)
  WHERE j.workbook_id = $1 AND j.finished_at IS NULL`;

/**
 * Deletes versions that nothing refers to, 30 days after a later version was made or the table was deleted. The age counts
 * from then, because a snapshot that is just being made refers to versions that are current or were a moment ago.
 */
export async function deleteOldVersions(pool: pg.Pool, onBatch: () => void): Promise<number> {
  return repeatInBatches(
    pool,
    batchRows,
    `DELETE FROM table_versions WHERE ctid IN (
       SELECT v.ctid FROM table_versions v JOIN tables t ON t.id = v.table_id
       WHERE (t.deleted_at < now() - ${keptFor} OR (v.edit_version < t.edit_version AND EXISTS (
               SELECT 1 FROM table_versions n WHERE n.table_id = v.table_id AND n.edit_version > v.edit_version AND n.created_at < now() - ${keptFor}
             )))
         AND NOT EXISTS (SELECT 1 FROM (${pinnedVersions}) p WHERE p.table_id = v.table_id AND p.edit_version = v.edit_version)
       LIMIT ${batchRows}
     )`,
    onBatch,
  );
}

/** Deletes manifests without a version. New ones are safe: they are inserted in the transaction that refers to them. */
export async function deleteOldManifests(pool: pg.Pool, onBatch: () => void): Promise<number> {
  return repeatInBatches(
    pool,
    batchRows,
    `DELETE FROM manifests WHERE ctid IN (
       SELECT m.ctid FROM manifests m
       WHERE NOT EXISTS (SELECT 1 FROM table_versions v WHERE v.manifest_id = m.id AND v.table_id = m.table_id)
         -- A deleted table can be restored as long as one of its versions is kept.
         AND NOT EXISTS (SELECT 1 FROM tables t WHERE t.manifest_id = m.id
           AND (t.deleted_at IS NULL OR EXISTS (SELECT 1 FROM table_versions v WHERE v.table_id = t.id)))
       LIMIT ${batchRows}
     )`,
    onBatch,
  );
}

/** Deleted tables without versions: they cannot be restored, and their history cannot be read. */
const unreachableTables = `
  SELECT id FROM tables t
  WHERE t.deleted_at < now() - ${keptFor} AND NOT EXISTS (SELECT 1 FROM table_versions v WHERE v.table_id = t.id)`;

/** Deletes the logs and annotations of such tables. */
export async function deleteUnreachableLogs(pool: pg.Pool, onBatch: () => void): Promise<void> {
  for (const table of ['row_log', 'log_files', 'annotations'])
    await repeatInBatches(
      pool,
      batchRows,
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE table_id IN (${unreachableTables}) LIMIT ${batchRows}))`,
      onBatch,
    );
}

export interface WorkbookKey {
  id: string;
  accountId: string;
}

/** All workbooks in order of ids, including deleted ones, which have blobs until they are purged. */
export async function listWorkbookKeys(pool: Queryable, after: string, limit: number): Promise<WorkbookKey[]> {
  const { rows } = await pool.query<WorkbookKey>(`SELECT id, account_id AS "accountId" FROM workbooks WHERE id > $1 ORDER BY id LIMIT $2`, [
    after,
    limit,
  ]);
  return rows;
}

export async function listReferencedKeys(pool: Queryable, workbookId: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ key: string }>(`SELECT key FROM (${referencedKeys}) AS referred WHERE key IS NOT NULL`, [workbookId]);
  return new Set(rows.map((row) => row.key));
}

export async function isReferenced(pool: pg.Pool, workbookId: string, key: string): Promise<boolean> {
  const { rows } = await pool.query(`SELECT 1 FROM (${referencedKeys}) AS referred WHERE key = $2 LIMIT 1`, [workbookId, key]);
  return rows.length > 0;
}

/** Whether a key belongs to files of tables, results or sources. Only these are collected: `referencedKeys` knows all their references. */
export function isCollected(key: string): boolean {
  return /^[^/]+\/[^/]+\/(tbl_[^/]+|results|sources)\//.test(key);
}

/** Records the keys under a prefix that nothing refers to, and deletes the records of others; returns when each was first seen unused. */
export async function recordGarbage(pool: pg.Pool, prefix: string, keys: string[]): Promise<Map<string, Date>> {
  await pool.query('DELETE FROM garbage_blobs WHERE starts_with(key, $1) AND NOT key = ANY ($2)', [prefix, keys]);
  await pool.query('INSERT INTO garbage_blobs (key, seen_at) SELECT unnest($1::text[]), now() ON CONFLICT DO NOTHING', [keys]);
  const { rows } = await pool.query<{ key: string; seenAt: Date }>(
    'SELECT key, seen_at AS "seenAt" FROM garbage_blobs WHERE key = ANY ($1)',
    [keys],
  );
  return new Map(rows.map((row) => [row.key, row.seenAt]));
}

export async function forgetGarbage(pool: pg.Pool, keys: string[]): Promise<void> {
  await pool.query('DELETE FROM garbage_blobs WHERE key = ANY ($1)', [keys]);
}
