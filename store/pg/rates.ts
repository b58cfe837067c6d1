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

const waitMs = 50;
const maxWaitMs = 15_000;

/** Returns false if one of the subjects has too many failed attempts in the last minute. */
export async function beginLogin(pool: pg.Pool, subjects: string[], attempt: string, limit: number): Promise<boolean> {
  for (const until = Date.now() + maxWaitMs; Date.now() < until; await new Promise((done) => setTimeout(done, waitMs))) {
    const { rows } = await pool.query<{ answer: 'go' | 'wait' | 'no' }>('SELECT svc_begin_login($1, $2, $3) AS answer', [
      subjects,
      attempt,
      limit,
    ]);
    if (rows[0]?.answer !== 'wait') return rows[0]?.answer === 'go';
  }
  return false;
}

/** Forgets a successful attempt; a failed one counts for a minute. */
export async function endLogin(pool: pg.Pool, attempt: string, good: boolean): Promise<void> {
  await pool.query(good ? 'DELETE FROM login_attempts WHERE attempt = $1' : 'UPDATE login_attempts SET failed = true WHERE attempt = $1', [
    attempt,
  ]);
}
