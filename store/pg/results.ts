import { eq, getTableColumns } from 'drizzle-orm';
import type pg from 'pg';
import { results } from '../../schema/index.ts';
import type { Database, Orm } from './database.ts';
import { defineLookup, type LookUpAll } from './lookups.ts';
import { unpackContent } from './packedContent.ts';
import { reviveDates } from './selectColumns.ts';

export type StoredResult = typeof results.$inferSelect;
/** A result with its content as it was before it was stored. */
export type ResultRecord = StoredResult & { contentForm: 'file' | 'rows' };

/** Sent with every query: planned by name, and on its way to the disk with the results of other queries of the account. */
export async function insertResult(db: Database, result: StoredResult): Promise<void> {
  const values = columns.map(([name, { dataType }]) => {
    const value = result[name];
    return dataType === 'json' ? JSON.stringify(value) : value;
  });
  await db.sendBatched(db.pool.accounts(), `results ${result.accountId}`, { name: 'insert_result', text: insertion, values });
}

const columns = Object.entries(getTableColumns(results)) as [keyof StoredResult, { name: string; dataType: string }][];
const insertion = `INSERT INTO results (${columns.map(([, { name }]) => name).join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})
  RETURNING set_config('synchronous_commit', 'off', true)`;

export async function findResult(orm: Orm, id: string): Promise<ResultRecord | null> {
  const [row] = await orm.select().from(results).where(eq(results.id, id));
  return row ? unpackContent(row) : null;
}

/** The newest results of the same question, without their contents. One is the answer only if its `answerKey` is the right one. */
export async function listLastResults(lookUpAll: LookUpAll, askedKey: string): Promise<ResultRecord[]> {
  return Promise.all((await lookUpAll(lastResults, askedKey)).map(({ record }) => asResult(record)));
}

export async function asResult(record: StoredResult): Promise<ResultRecord> {
  return unpackContent(reviveResult(record));
}

const reviveResult = reviveDates(results);

/** As JSON: the newest results of the question `k.asked`. Rules come and go, so that not only the newest may be the answer. */
export const lastOfQuestion = `
   SELECT json_build_object(${columns
     .map(([name, column]) => `'${name}', ${name === 'content' ? 'NULL' : `r.${column.name}`}`)
     .join(', ')}) AS record
   FROM results r WHERE r.asked_key = k.asked AND r.expires_at > now() ORDER BY r.created_at DESC LIMIT 3`;

const lastResults = defineLookup<{ record: StoredResult }>('last_results', lastOfQuestion, ['a AS asked']);

export async function findContent(orm: Orm, id: string): Promise<Buffer | null> {
  const [row] = await orm.select({ content: results.content, contentForm: results.contentForm }).from(results).where(eq(results.id, id));
  return row ? (await unpackContent(row)).content : null;
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
