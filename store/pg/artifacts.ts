import type pg from 'pg';
import type { Tx } from './commit.ts';

export type NamedArtifact = 'table' | 'sheet' | 'chart';

const named = `
  SELECT 'table' AS kind, workbook_id, name, name_key FROM tables WHERE state = 'active' AND deleted_at IS NULL
  UNION ALL SELECT 'sheet', workbook_id, name, name_key FROM sheets
  UNION ALL SELECT 'chart', workbook_id, name, name_key FROM charts`;

/** What has a name in a workbook; case does not count. */
export async function findNamed(client: pg.Pool | pg.PoolClient, workbookId: string, name: string): Promise<NamedArtifact[]> {
  const { rows } = await client.query<{ kind: NamedArtifact }>(
    `SELECT kind FROM (${named}) AS named WHERE workbook_id = $1 AND name_key = lower($2)`,
    [workbookId, name],
  );
  return rows.map(({ kind }) => kind);
}

/**
 * Lets one transaction at a time give names in a workbook: what has them is in several tables, so no constraint keeps two things of
 * different kinds from having the same. After the locks of tables.
 */
export async function lockNames(tx: Tx, workbookId: string): Promise<void> {
  await tx.client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`names ${workbookId}`]);
}

/** All names that are taken in a workbook. */
export async function listTakenNames(client: pg.Pool | pg.PoolClient, workbookId: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM (${named}) AS named WHERE workbook_id = $1`, [workbookId]);
  return rows.map(({ name }) => name);
}

/** Something of a workbook that is not a table. */
export interface OtherArtifact {
  id: string;
  workbookId: string;
  kind: Exclude<NamedArtifact, 'table'>;
  name: string;
  title: string | null;
  updatedAt: Date;
}

/** Charts, then sheets, oldest first. */
export async function listOtherArtifacts(
  pool: pg.Pool,
  page: { workbookId: string; after: string | null; limit: number },
): Promise<OtherArtifact[]> {
  const { rows } = await pool.query<OtherArtifact>(
    `SELECT * FROM (
       SELECT id, workbook_id AS "workbookId", 'sheet' AS kind, name, title, updated_at AS "updatedAt" FROM sheets
       UNION ALL SELECT id, workbook_id, 'chart', name, title, updated_at FROM charts) AS others
     WHERE "workbookId" = $1 AND ($2::text IS NULL OR id > $2) ORDER BY id LIMIT $3`,
    [page.workbookId, page.after, page.limit],
  );
  return rows;
}

/** That a sheet or chart shows a table. */
export interface Showing {
  id: string;
  kind: OtherArtifact['kind'];
  name: string;
  tableId: string;
}

const mostShowings = 1000;

/** What shows some tables of a workbook. A block of a sheet whose table is gone shows the active one that has its name. */
export async function listShowings(pool: pg.Pool, workbookId: string, tableIds: string[]): Promise<Showing[]> {
  const { rows } = await pool.query<Showing>(
    `SELECT s.id, 'sheet' AS kind, s.name, shown.id AS "tableId"
     FROM sheets s CROSS JOIN LATERAL jsonb_array_elements(s.blocks) AS block
     LEFT JOIN tables own ON own.id = block->'table'->>'id' AND own.state = 'active' AND own.deleted_at IS NULL
     JOIN tables shown ON shown.id = ANY ($2) AND shown.state = 'active' AND shown.deleted_at IS NULL
       AND CASE WHEN own.id IS NULL THEN shown.name_key = lower(block->'table'->>'name') ELSE shown.id = own.id END
     WHERE s.workbook_id = $1
     UNION SELECT id, 'chart', name, table_id FROM charts WHERE workbook_id = $1 AND table_id = ANY ($2)
     ORDER BY 1, 4 LIMIT ${mostShowings}`,
    [workbookId, tableIds],
  );
  return rows;
}
