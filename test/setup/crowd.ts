import type pg from 'pg';

/** Many more tables beside one of a workbook, as if each had been made like it: one column, no rows. */
export async function crowdTables(
  sql: pg.Pool,
  beside: { workbookId: string; table: string },
  many: { count: number; name: string; column: string; alsoArchived?: boolean },
): Promise<void> {
  const others = `FROM tables t, generate_series(1, ${many.count}) n WHERE t.name = '${beside.table}' AND t.workbook_id = '${beside.workbookId}'`;
  const state = many.alsoArchived ? `CASE WHEN n % 2 = 0 THEN 'active' ELSE 'archived' END` : `'active'`;
  await sql.query(`
    INSERT INTO tables (id, workbook_id, account_id, name, layer, state, edit_version, version_uid, manifest_id, schema_version, row_count,
                        next_row_id, next_column_id, created_at, updated_at)
    SELECT t.id || n, t.workbook_id, t.account_id, '${many.name}' || n, t.layer, ${state}, 1, t.id || 'uid' || n, t.manifest_id || n, 1, 0, 1, 1,
           now(), now() ${others};
    INSERT INTO manifests (id, table_id, layers, created_at)
    SELECT t.manifest_id || n, t.id || n, '[{"kind": "log", "after": 1, "upTo": null}]', now() ${others};
    INSERT INTO table_versions (table_id, edit_version, uid, manifest_id, schema_version, row_count, created_at)
    SELECT t.id || n, 1, t.id || 'uid' || n, t.manifest_id || n, 1, 0, now() ${others};
    INSERT INTO table_columns (table_id, account_id, column_id, from_version, name, type, position)
    SELECT t.id || n, t.account_id, 1, 1, '${many.column}', 'VARCHAR', 1 ${others};
    ANALYZE`);
}
