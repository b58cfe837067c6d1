import type pg from 'pg';

/** Whether the policies on rows hold for the role that we are. They do not for a superuser, nor for one that may pass them by. */
export async function isHeldToPolicies(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>(
    'SELECT NOT (rolsuper OR rolbypassrls) AS held FROM pg_roles WHERE rolname = current_user',
  );
  return rows[0]?.held ?? false;
}
