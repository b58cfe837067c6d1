import type pg from 'pg';

const batch = 1000;

/** How long a version can be read after another took its place. */
const keptFor = "interval '30 days'";

/**
 * What holds on to versions of tables. Whoever refers to a version by its number from a new place (a branch, a conflict)
 * adds a SELECT here.
 */
const pinnedVersions = `
  SELECT table_id, edit_version FROM snapshot_tables
  UNION ALL
  SELECT entry->>'id', (entry->>'edit_version')::bigint FROM results, jsonb_array_elements(tables) AS part(entry) WHERE expires_at > now()`;

/**
 * What holds on to blobs of a workbook ($1). Whoever keeps a key in a new place adds a SELECT here, and its part of the
 * key space in `isCollected`.
 */
const referredKeys = `
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
  SELECT input->'revise'->>'blobKey' FROM jobs WHERE workbook_id = $1 AND finished_at IS NULL
  UNION
  SELECT key #>> '{}' FROM jobs j JOIN job_drafts d ON d.job_id = j.id,
    LATERAL (SELECT jsonb_path_query(d.draft, '$.**.key') UNION SELECT jsonb_path_query(d.draft, '$.**.provenanceKey')) AS part(key)
  WHERE j.workbook_id = $1 AND j.finished_at IS NULL`;

async function deleteInBatches(pool: pg.Pool, statement: string, onBatch: () => void): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(statement);
    total += rowCount ?? 0;
    onBatch();
    if ((rowCount ?? 0) < batch) return total;
  }
}

/**
 * Versions that nothing refers to, once another has stood in their place for 30 days; of a deleted table all of them. The
 * age counts from then, not from when they were made: a snapshot that is being taken right now holds current versions only.
 */
export async function deleteOldVersions(pool: pg.Pool, onBatch: () => void): Promise<number> {
  return deleteInBatches(
    pool,
    `DELETE FROM table_versions WHERE ctid IN (
       SELECT v.ctid FROM table_versions v JOIN tables t ON t.id = v.table_id
       WHERE (t.deleted_at < now() - ${keptFor} OR (v.edit_version < t.edit_version AND EXISTS (
               SELECT 1 FROM table_versions n WHERE n.table_id = v.table_id AND n.edit_version > v.edit_version AND n.created_at < now() - ${keptFor}
             )))
         AND NOT EXISTS (SELECT 1 FROM (${pinnedVersions}) p WHERE p.table_id = v.table_id AND p.edit_version = v.edit_version)
       LIMIT ${batch}
     )`,
    onBatch,
  );
}

/** A manifest comes into being in the transaction that refers to it, so one without a version has lost its last. */
export async function deleteOldManifests(pool: pg.Pool, onBatch: () => void): Promise<number> {
  return deleteInBatches(
    pool,
    `DELETE FROM manifests WHERE ctid IN (
       SELECT m.ctid FROM manifests m
       WHERE NOT EXISTS (SELECT 1 FROM table_versions v WHERE v.manifest_id = m.id AND v.table_id = m.table_id)
         -- A deleted table can come back as long as a version of it is kept.
         AND NOT EXISTS (SELECT 1 FROM tables t WHERE t.manifest_id = m.id
           AND (t.deleted_at IS NULL OR EXISTS (SELECT 1 FROM table_versions v WHERE v.table_id = t.id)))
       LIMIT ${batch}
     )`,
    onBatch,
  );
}

/** A deleted table without a version can never come back, and nobody can ask for its history. */
const lostTables = `
  SELECT id FROM tables t
  WHERE t.deleted_at < now() - ${keptFor} AND NOT EXISTS (SELECT 1 FROM table_versions v WHERE v.table_id = t.id)`;

/** What the rows of such tables were, in the log and in files that were made of it. */
export async function deleteLostLogs(pool: pg.Pool, onBatch: () => void): Promise<void> {
  for (const table of ['row_log', 'log_files', 'annotations'])
    await deleteInBatches(
      pool,
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE table_id IN (${lostTables}) LIMIT ${batch}))`,
      onBatch,
    );
}

export interface WorkbookKey {
  id: string;
  accountId: string;
}

/** All workbooks in the order of ids; deleted ones have blobs too until they are purged. */
export async function listWorkbookKeys(pool: pg.Pool, after: string, limit: number): Promise<WorkbookKey[]> {
  const { rows } = await pool.query<WorkbookKey>(`SELECT id, account_id AS "accountId" FROM workbooks WHERE id > $1 ORDER BY id LIMIT $2`, [
    after,
    limit,
  ]);
  return rows;
}

export async function listReferredKeys(pool: pg.Pool, workbookId: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ key: string }>(referredKeys, [workbookId]);
  return new Set(rows.map((row) => row.key));
}

export async function isReferred(pool: pg.Pool, workbookId: string, key: string): Promise<boolean> {
  const { rows } = await pool.query(`SELECT 1 FROM (${referredKeys}) AS referred WHERE key = $2 LIMIT 1`, [workbookId, key]);
  return rows.length > 0;
}

/** Parts of a workbook's key space whose references are all known here: files of tables, results and sources. */
export function isCollected(key: string): boolean {
  return /^[^/]+\/[^/]+\/(tbl_[^/]+|results|sources)\//.test(key);
}

/** Remembers blobs that nothing refers to, forgets those that something does; returns when each was first seen so. */
export async function noteGarbage(pool: pg.Pool, prefix: string, keys: string[]): Promise<Map<string, Date>> {
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
