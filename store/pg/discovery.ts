import type pg from 'pg';
import type { Reach } from '../../core/access/reach.ts';
import type { ColumnRecord } from '../../core/table/table.ts';
import { aggregateColumns, type TableRow, tableFields } from './tables.ts';

export interface FoundTable extends TableRow {
  workbookTitle: string;
  columns: ColumnRecord[];
  /** File name of the table's first source. */
  source: string | null;
}

export interface DiscoveryFilter {
  userId: string;
  /** The caller's accounts: one for a token or key, for a session all of the user's. */
  accountIds: readonly string[];
  reach: Reach;
  /**
   * A table must match all terms; no terms match every table. A term matches as written or folded, because the database folds
   * the case of some letters differently than we do.
   */
  terms: { written: string; folded: string }[];
  /** Unset: any state. */
  state?: 'active' | 'archived';
  /** Workbook id, table name and table id of the last row of the page before. */
  after: [string, string, string] | null;
  limit: number;
}

const likeSpecial = /[\\%_]/g;

/** Tables of all workbooks that the caller may see, in order of workbook and name. */
export async function findTables(pool: pg.Pool, filter: DiscoveryFilter): Promise<FoundTable[]> {
  const toPattern = (text: string) => `%${text.replace(likeSpecial, '\\$&')}%`;
  const { rows } = await pool.query<FoundTable>(
    `SELECT ${tableFields}, w.title AS "workbookTitle", c.columns, f.source
     FROM tables t
     JOIN workbooks w ON w.id = t.workbook_id AND w.deleted_at IS NULL
     JOIN accounts a ON a.id = w.account_id AND a.deleted_at IS NULL
     LEFT JOIN members m ON m.workspace_id = w.workspace_id AND m.user_id = $1
     CROSS JOIN LATERAL (
       SELECT ${aggregateColumns} AS columns, coalesce(string_agg(c.name, E'\\n'), '') AS names
       FROM table_columns c WHERE c.table_id = t.id AND c.to_version IS NULL) c
     LEFT JOIN LATERAL (
       SELECT s.filename AS source FROM landings l JOIN sources s ON s.id = l.source_id WHERE l.table_id = t.id ORDER BY l.edit_version LIMIT 1) f ON true
     WHERE t.deleted_at IS NULL
       AND (a.owner_id = $1 OR m.user_id IS NOT NULL) AND (w.visibility = 'workspace' OR w.owner_id = $1)
       AND w.account_id = ANY ($2)
       AND ($3::text IS NULL OR w.id = $3) AND ($4::text IS NULL OR w.workspace_id = $4)
       AND (SELECT coalesce(bool_and(normalize(concat_ws(E'\\n', t.name, t.description, c.names, f.source), NFKC) ILIKE ANY (ARRAY[written, folded])), true)
            FROM unnest($5::text[], $11::text[]) AS term(written, folded))
       AND ($6::text IS NULL OR (t.workbook_id, t.name, t.id) > ($6, $7, $8))
       AND ($10::text IS NULL OR t.state = $10)
     ORDER BY t.workbook_id, t.name, t.id LIMIT $9`,
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
  return rows;
}
