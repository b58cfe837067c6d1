import type pg from 'pg';

export interface Lease {
  granted: number;
  remaining: number;
}

export async function leaseRate(pool: pg.Pool, subject: string, minute: number, limit: number, wanted: number): Promise<Lease> {
  const { rows } = await pool.query<Lease>({
    name: 'lease_rate',
    text: 'SELECT granted, remaining FROM svc_lease_rate($1, $2, $3, $4)',
    values: [subject, minute, limit, wanted],
  });
  return rows[0] as Lease;
}

/** False when too many attempts of the last minute stand against the e-mail or the address. */
export async function beginLogin(pool: pg.Pool, subjects: string[], attempt: string, limit: number): Promise<boolean> {
  const { rows } = await pool.query<{ ok: boolean }>('SELECT svc_begin_login($1, $2, $3) AS ok', [subjects, attempt, limit]);
  return rows[0]?.ok ?? false;
}

/** A good log-in is not held against anyone. */
export async function forgiveLogin(pool: pg.Pool, attempt: string): Promise<void> {
  await pool.query('DELETE FROM login_attempts WHERE attempt = $1', [attempt]);
}
