import type pg from 'pg';

/** A tag of a column that the table has now. */
export interface ClassificationRecord {
  tableId: string;
  columnId: number;
  tag: string;
  table: string;
  column: string;
  origin: 'direct' | 'inherited';
  fromTableId: string | null;
  fromColumnId: number | null;
  /** Null: it is not there any more. */
  fromTable: string | null;
  fromColumn: string | null;
  actor: string;
  createdAt: Date;
}

export type ClassificationKey = [tableId: string, columnId: number, tag: string];

/** The tags of a workbook by table, column and tag. */
export async function listClassifications(
  pool: pg.Pool,
  workbookId: string,
  after: ClassificationKey | null,
  limit: number,
): Promise<ClassificationRecord[]> {
  const { rows } = await pool.query<ClassificationRecord>(
    `SELECT g.table_id AS "tableId", g.column_id AS "columnId", g.tag, t.name AS table, c.name AS column, g.origin,
       g.from_table AS "fromTableId", g.from_column AS "fromColumnId", ft.name AS "fromTable", fc.name AS "fromColumn",
       g.actor, g.created_at AS "createdAt"
     FROM column_tags g
     JOIN tables t ON t.id = g.table_id AND t.deleted_at IS NULL
     JOIN table_columns c ON c.table_id = g.table_id AND c.column_id = g.column_id AND c.to_version IS NULL
     LEFT JOIN tables ft ON ft.id = g.from_table AND ft.deleted_at IS NULL
     LEFT JOIN table_columns fc ON fc.table_id = ft.id AND fc.column_id = g.from_column AND fc.to_version IS NULL
     WHERE g.workbook_id = $1 AND g.origin <> 'removed' AND ($2::text IS NULL OR (g.table_id, g.column_id, g.tag) > ($2, $3, $4))
     ORDER BY g.table_id, g.column_id, g.tag LIMIT $5`,
    [workbookId, after?.[0] ?? null, after?.[1] ?? null, after?.[2] ?? null, limit],
  );
  return rows;
}
