import type pg from 'pg';
import type { Reach } from '../../core/access/reach.ts';
import type { ColumnRecord } from '../../core/table/table.ts';
import type { OtherArtifact } from './artifacts.ts';
import { aggregateColumns, type TableRow, tableFields } from './tables.ts';

interface FoundTable extends TableRow {
  workbookTitle: string;
  columns: ColumnRecord[];
  /** File name of the table's first source. */
  source: string | null;
}

interface FoundOther extends OtherArtifact {
  workbookTitle: string;
}

export type FoundArtifact = FoundTable | FoundOther;

export interface DiscoveryFilter {
  userId: string;
  /** The caller's accounts: one for a token or key, for a session all of the user's. */
  accountIds: readonly string[];
  reach: Reach;
  /**
   * An artifact must match all terms; no terms match every one. A term matches as written or folded, because the database folds
   * the case of some letters differently than we do.
   */
  terms: { written: string; folded: string }[];
  /** Unset: any state. */
  state?: 'active' | 'archived';
  /** Workbook id, name and id of the last artifact of the page before. */
  after: [string, string, string] | null;
  limit: number;
}

const likeSpecial = /[\\%_]/g;

/** Artifacts of all workbooks that the caller may see, in order of workbook and name. Only tables can be archived. */
export async function findArtifacts(pool: pg.Pool, filter: DiscoveryFilter): Promise<FoundArtifact[]> {
  const toPattern = (text: string) => `%${text.replace(likeSpecial, '\\$&')}%`;
  const { rows } = await pool.query<FoundTable & { other: Omit<FoundOther, 'workbookTitle' | 'updatedAt'> | null; changedAt: Date }>(
    `SELECT ${tableFields}, w.title AS "workbookTitle", c.columns, f.source, n.updated_at AS "changedAt",
       CASE WHEN t.id IS NULL THEN json_build_object('id', n.id, 'workbookId', n.workbook_id, 'kind', n.kind, 'name', n.name, 'title', n.title) END AS other
     FROM workbooks w
     CROSS JOIN LATERAL (
       SELECT id, workbook_id, 'table' AS kind, name, description AS title, state, updated_at FROM tables WHERE workbook_id = w.id AND deleted_at IS NULL
       UNION ALL SELECT id, workbook_id, 'sheet', name, title, 'active', updated_at FROM sheets WHERE workbook_id = w.id
       UNION ALL SELECT id, workbook_id, 'chart', name, title, 'active', updated_at FROM charts WHERE workbook_id = w.id) AS n
     LEFT JOIN tables t ON t.id = n.id
     JOIN accounts a ON a.id = w.account_id AND a.deleted_at IS NULL
     LEFT JOIN members m ON m.workspace_id = w.workspace_id AND m.user_id = $1
     CROSS JOIN LATERAL (
       SELECT ${aggregateColumns} AS columns, coalesce(string_agg(c.name, E'\\n'), '') AS names
       FROM table_columns c WHERE c.table_id = t.id AND c.to_version IS NULL) c
     LEFT JOIN LATERAL (
       SELECT s.filename AS source FROM landings l JOIN sources s ON s.id = l.source_id WHERE l.table_id = t.id ORDER BY l.edit_version LIMIT 1) f ON true
     WHERE w.deleted_at IS NULL AND (a.owner_id = $1 OR m.user_id IS NOT NULL) AND (w.visibility = 'workspace' OR w.owner_id = $1)
       AND w.account_id = ANY ($2)
       AND ($3::text IS NULL OR w.id = $3) AND ($4::text IS NULL OR w.workspace_id = $4)
       AND (SELECT coalesce(bool_and(normalize(concat_ws(E'\\n', n.name, n.title, c.names, f.source), NFKC) ILIKE ANY (ARRAY[written, folded])), true)
            FROM unnest($5::text[], $11::text[]) AS term(written, folded))
       AND ($6::text IS NULL OR (n.workbook_id, n.name, n.id) > ($6, $7, $8))
       AND ($10::text IS NULL OR n.state = $10)
     ORDER BY n.workbook_id, n.name, n.id LIMIT $9`,
    [
      filter.userId,
      filter.accountIds,
      filter.reach.kind === 'workbook' ? filter.reach.id : null,
      filter.reach.kind === 'workspace' ? filter.reach.id : null,
      filter.terms.map(({ written }) => toPattern(written)),
      filter.after?.[0] ?? null,
      filter.after?.[1] ?? null,
      filter.after?.[2] ?? null,
      filter.limit,
      filter.state ?? null,
      filter.terms.map(({ folded }) => toPattern(folded)),
    ],
  );
  return rows.map(({ other, changedAt, ...table }) =>
    other ? { ...other, updatedAt: changedAt, workbookTitle: table.workbookTitle } : table,
  );
}
