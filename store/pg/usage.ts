import { and, asc, eq, gte, sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Day } from '../../core/usage/days.ts';
import { credentials, requestCounts, usageRollups, type usageSamples } from '../../schema/index.ts';
import type { Orm } from './database.ts';

/**
 * SQL: of the accounts that rows name, those that are there and stay until the statement is done. Nothing else keeps a row from
 * being added after its account was deleted.
 */
const liveAccounts = (rows: { accountId: string }[]) =>
  sql`SELECT id FROM accounts WHERE id = ANY (${sql.param(rows.map(({ accountId }) => accountId))}) AND deleted_at IS NULL FOR KEY SHARE`;

export async function insertRequestCounts(orm: Orm, counts: (typeof requestCounts.$inferInsert)[]): Promise<void> {
  if (counts.length === 0) return;
  await orm.execute(sql`
    WITH live AS (${liveAccounts(counts)})
    INSERT INTO request_counts (account_id, user_id, credential_id, kind, at, requests)
    SELECT "accountId", "userId", "credentialId", kind, at, requests
    FROM jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
      AS c("accountId" text, "userId" text, "credentialId" text, kind text, at timestamptz, requests integer)
    JOIN live ON live.id = c."accountId"`);
}

export interface DailyRequests {
  credentialId: string;
  kind: 'session' | 'access_token' | 'account_key';
  name: string | null;
  date: string;
  requests: number;
}

const day = sql<string>`to_char(${requestCounts.at} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

/** Requests per credential and UTC day. */
export async function sumDailyRequests(
  orm: Orm,
  filter: { userId?: string; credentialId?: string; since: Date },
): Promise<DailyRequests[]> {
  return orm
    .select({
      credentialId: requestCounts.credentialId,
      kind: requestCounts.kind,
      name: credentials.name,
      date: day,
      requests: sql<number>`sum(${requestCounts.requests})::int`,
    })
    .from(requestCounts)
    .leftJoin(credentials, eq(credentials.id, requestCounts.credentialId))
    .where(
      and(
        gte(requestCounts.at, filter.since),
        filter.userId === undefined ? undefined : eq(requestCounts.userId, filter.userId),
        filter.credentialId === undefined ? undefined : eq(requestCounts.credentialId, filter.credentialId),
      ),
    )
    .groupBy(requestCounts.credentialId, requestCounts.kind, credentials.name, day)
    .orderBy(asc(requestCounts.credentialId), asc(day));
}

/** A UTC day on which an account did something, with its last sample if there was one. */
export interface UsageDay {
  date: Day;
  requests: number;
  ops: number;
  credits: number;
  storageBytes: number | null;
  tables: number | null;
}

export async function listUsageDays(pool: pg.Pool, accountId: string, { from, to }: { from: Day; to: Day }): Promise<UsageDay[]> {
  const { rows } = await pool.query<UsageDay>(
    `WITH flows AS (
       SELECT (at AT TIME ZONE 'UTC')::date AS day, requests, 0 AS ops, 0 AS credits FROM request_counts
       WHERE account_id = $1 AND at >= $2::date::timestamp AT TIME ZONE 'UTC'
       UNION ALL
       SELECT (at AT TIME ZONE 'UTC')::date, 0, CASE kind WHEN 'op' THEN amount ELSE 0 END, CASE kind WHEN 'credits' THEN amount ELSE 0 END
       FROM usage_entries WHERE account_id = $1 AND at >= $2::date::timestamp AT TIME ZONE 'UTC')
     SELECT day::text AS date, sum(requests)::float8 AS requests, sum(ops)::float8 AS ops, sum(credits)::float8 AS credits,
       s.storage_bytes::float8 AS "storageBytes", s.tables
     FROM flows LEFT JOIN (SELECT * FROM usage_samples WHERE account_id = $1) AS s USING (day) WHERE day <= $3::date
     GROUP BY day, s.storage_bytes, s.tables HAVING sum(requests + ops + credits) > 0 ORDER BY day`,
    [accountId, from, to],
  );
  return rows;
}

export async function putUsageSamples(orm: Orm, samples: (typeof usageSamples.$inferInsert)[]): Promise<void> {
  if (samples.length === 0) return;
  await orm.execute(sql`
    WITH live AS (${liveAccounts(samples)})
    INSERT INTO usage_samples (account_id, day, storage_bytes, tables, at)
    SELECT "accountId", day, "storageBytes", tables, at
    FROM jsonb_to_recordset(${JSON.stringify(samples)}::jsonb)
      AS s("accountId" text, day date, "storageBytes" bigint, tables integer, at timestamptz)
    JOIN live ON live.id = s."accountId"
    ON CONFLICT (account_id, day) DO UPDATE
      SET storage_bytes = excluded.storage_bytes, tables = excluded.tables, at = excluded.at`);
}

/** The first day that is not rolled up, if it is before `today`. */
export async function findDayToRollUp(pool: pg.Pool, today: Day): Promise<Day | null> {
  const { rows } = await pool.query<{ day: Day | null }>(
    `SELECT coalesce((SELECT max(day) + 1 FROM usage_rollups), (SELECT (least(
         (SELECT min(at) FROM request_counts), (SELECT min(at) FROM usage_entries)) AT TIME ZONE 'UTC')::date))::text AS day`,
  );
  const day = rows[0]?.day ?? null;
  return day !== null && day < today ? day : null;
}

/** Each statement puts back what it takes, so that no count is lost or doubled. */
export async function rollUpDay(pool: pg.Pool, accountIds: string[], { day, nextDay }: { day: Day; nextDay: Day }): Promise<void> {
  const ofDay = `account_id = ANY ($1) AND at >= $2::timestamp AT TIME ZONE 'UTC' AND at < $3::timestamp AT TIME ZONE 'UTC'`;
  const values = [accountIds, day, nextDay];
  await pool.query(
    `WITH taken AS (DELETE FROM request_counts WHERE ${ofDay} RETURNING account_id, user_id, credential_id, kind, requests)
     INSERT INTO request_counts (account_id, user_id, credential_id, kind, at, requests)
     SELECT account_id, user_id, credential_id, kind, $2::timestamp AT TIME ZONE 'UTC', sum(requests) FROM taken GROUP BY 1, 2, 3, 4`,
    values,
  );
  await pool.query(
    `WITH taken AS (DELETE FROM usage_entries WHERE ${ofDay} RETURNING account_id, scope, kind, amount)
     INSERT INTO usage_entries (account_id, scope, kind, amount, at)
     SELECT account_id, scope, kind, sum(amount), $2::timestamp AT TIME ZONE 'UTC' FROM taken GROUP BY 1, 2, 3`,
    values,
  );
}

export async function markRolledUp(orm: Orm, day: Day): Promise<void> {
  await orm.insert(usageRollups).values({ day, at: new Date() }).onConflictDoNothing();
}
