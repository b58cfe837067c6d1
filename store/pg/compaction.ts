import type pg from 'pg';
import type { Layer } from '../../core/table/table.ts';

export interface LayerFold {
  tableId: string;
  /** The manifest whose layers were folded. */
  from: string;
  to: string;
  files: Layer[];
  /** The version whose content the files hold. */
  editVersion: number;
  versionUid: string;
}

/** Replaces the folded layers and keeps the layers added since; returns false if the manifest changed otherwise meanwhile. */
export async function foldLayers(pool: pg.Pool, fold: LayerFold): Promise<boolean> {
  const { rows } = await pool.query<{ folded: boolean }>('SELECT svc_fold_layers($1, $2, $3, $4, $5, $6, $7) AS folded', [
    fold.tableId,
    fold.from,
    fold.to,
    JSON.stringify(fold.files),
    fold.editVersion,
    fold.versionUid,
    new Date(),
  ]);
  return rows[0]?.folded === true;
}

export interface TableToCompact {
  id: string;
  workbookId: string;
  accountId: string;
  name: string;
}

/** Tables that exceed the limits of compaction, those with the longest logs first. */
export async function listTablesToCompact(
  pool: pg.Pool,
  limits: { tail: number; deltas: number; deltaShare: number; files: number },
): Promise<TableToCompact[]> {
  const { rows } = await pool.query<TableToCompact>(
    `SELECT t.id, t.workbook_id AS "workbookId", t.account_id AS "accountId", t.name
     FROM tables t JOIN manifests m ON m.id = t.manifest_id CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE entry->>'kind' = 'delta') AS deltas,
              coalesce(sum((entry->>'rows')::bigint) FILTER (WHERE entry->>'kind' = 'delta'), 0) AS delta_rows,
              count(*) FILTER (WHERE entry->>'kind' <> 'log') AS files
       FROM jsonb_array_elements(m.layers) AS part(entry)
     ) AS made
     WHERE t.deleted_at IS NULL AND (
       t.tail_count > $1 OR made.deltas >= $2 OR made.files > $3 OR (made.deltas > 0 AND made.delta_rows > $4::float8 * t.row_count)
     )
     ORDER BY t.tail_count DESC LIMIT 1000`,
    [limits.tail, limits.deltas, limits.files, limits.deltaShare],
  );
  return rows;
}
