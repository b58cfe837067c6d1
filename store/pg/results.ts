import { eq } from 'drizzle-orm';
import type pg from 'pg';
import { results } from '../../schema/index.ts';
import type { Orm } from './database.ts';

export type ResultRecord = typeof results.$inferSelect;

export async function insertResult(orm: Orm, result: typeof results.$inferInsert): Promise<void> {
  await orm.insert(results).values(result);
}

export async function findResult(orm: Orm, id: string): Promise<ResultRecord | null> {
  const [row] = await orm.select().from(results).where(eq(results.id, id));
  return row ?? null;
}

export interface OldResults {
  /** Files of results that have expired by this. Nothing else refers to them. */
  removedKeys: string[];
  /** What is left. */
  bytes: number;
  count: number;
}

/** Lets the oldest results of an account expire, so that the newest `most.count` are left at most, and `most.bytes` of them. */
export async function expireOldResults(pool: pg.Pool, accountId: string, most: { bytes: number; count: number }): Promise<OldResults> {
  const { rows } = await pool.query<OldResults>(
    `WITH ranked AS MATERIALIZED (
       SELECT id, bytes, sum(bytes) OVER newest <= $2 AND row_number() OVER newest <= $3 AS fits FROM results
       WHERE account_id = $1 AND expires_at > now() WINDOW newest AS (ORDER BY expires_at DESC, id DESC)
     ), gone AS (
       UPDATE results r SET expires_at = now(), content = NULL FROM ranked WHERE r.id = ranked.id AND NOT ranked.fits RETURNING r.blob_key
     )
     SELECT ARRAY(SELECT blob_key FROM gone WHERE blob_key IS NOT NULL) AS "removedKeys",
       coalesce(sum(bytes), 0)::float8 AS bytes, count(*)::int AS count FROM ranked WHERE fits`,
    [accountId, most.bytes, most.count],
  );
  return rows[0] as OldResults;
}
