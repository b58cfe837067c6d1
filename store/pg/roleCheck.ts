import type pg from 'pg';

/** Whether row security applies to the current database role. It does not for superusers and roles with BYPASSRLS. */
export async function isRowSecurityEnforced(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>(
    'SELECT NOT (rolsuper OR rolbypassrls) AS held FROM pg_roles WHERE rolname = current_user',
  );
  return rows[0]?.held ?? false;
}
