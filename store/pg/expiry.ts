import type { Database } from './database.ts';

/** What expires, by name, and how old it may get. Each sweep is safe to repeat and to cut off. */
export type Expired = Record<
  'idempotency_records' | 'sessions' | 'login_attempts' | 'rate_windows' | 'request_counts' | 'workbooks' | 'jobs',
  number
>;

const batch = 1000;

/** Deletes in batches, so that no lock is held for long; `onBatch` is told after each. */
export async function deleteExpired(db: Database, onBatch: () => void): Promise<Expired> {
  const sweep = async (statement: string): Promise<number> => {
    for (let total = 0; ; ) {
      const { rowCount } = await db.pool.query(statement);
      total += rowCount ?? 0;
      onBatch();
      if ((rowCount ?? 0) < batch) return total;
    }
  };
  const rows = (table: string, condition: string) =>
    sweep(`DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batch})`);
  return {
    idempotency_records: await rows('idempotency', 'expires_at < now()'),
    sessions: await rows('sessions', 'expires_at < now()'),
    login_attempts: await rows('login_attempts', "at < now() - interval '2 minutes'"),
    rate_windows: await rows('rate_windows', 'minute < extract(epoch FROM now()) / 60 - 5'),
    request_counts: await rows('request_counts', "at < now() - interval '400 days'"),
    jobs: await rows('jobs', "finished_at < now() - interval '7 days'"),
    workbooks: await purgeWorkbooks(db, onBatch),
  };
}

/** A deleted workbook's rows go 30 days after it; its deletion stays in the account's own audit log. */
async function purgeWorkbooks(db: Database, onBatch: () => void): Promise<number> {
  const { rows } = await db.pool.query<{ id: string }>(
    "SELECT id FROM workbooks WHERE deleted_at < now() - interval '30 days' ORDER BY deleted_at LIMIT 100",
  );
  for (const { id } of rows) {
    for (const table of ['ops', 'audit_entries', 'outbox', 'heads']) await db.pool.query(`DELETE FROM ${table} WHERE scope = $1`, [id]);
    await db.pool.query('DELETE FROM jobs WHERE workbook_id = $1', [id]);
    await db.pool.query('DELETE FROM workbooks WHERE id = $1', [id]);
    onBatch();
  }
  return rows.length;
}
