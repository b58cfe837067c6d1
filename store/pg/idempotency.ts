import { and, eq, gt, isNotNull, sql } from 'drizzle-orm';
import { idempotency, workbooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type StoredAnswer = typeof idempotency.$inferSelect;

export interface AnswerKey {
  scope: string;
  keyHash: Buffer;
}

const matches = (key: AnswerKey) =>
  and(eq(idempotency.scope, key.scope), eq(idempotency.keyHash, key.keyHash), gt(idempotency.expiresAt, sql`now()`));

export async function findAnswer(orm: Orm, key: AnswerKey): Promise<StoredAnswer | null> {
  const [row] = await orm.select().from(idempotency).where(matches(key));
  return row ?? null;
}

/** Locks a key until the transaction ends. Returns false if another transaction holds it. */
export async function claimKey(tx: Tx, key: AnswerKey): Promise<boolean> {
  const lock = key.keyHash.readBigInt64BE(0);
  const { rows } = await tx.client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock(hashtextextended($1, $2)) AS mine', [
    key.scope,
    lock.toString(),
  ]);
  return rows[0]?.mine ?? false;
}

/** What decides whether the answer may be shown again. */
const policyVersionOf = (workbookId: string | null) =>
  sql<number | null>`(SELECT ${workbooks.policyVersion} FROM ${workbooks} WHERE ${workbooks.id} = ${workbookId})`;

/** Overwrites an expired answer that was not deleted yet. */
export async function saveAnswer(tx: Tx, given: typeof idempotency.$inferInsert, workbookId: string | null): Promise<void> {
  const answer = { ...given, policyVersion: policyVersionOf(workbookId) };
  const { scope: _scope, keyHash: _keyHash, ...fields } = answer;
  await tx.orm
    .insert(idempotency)
    .values(answer)
    .onConflictDoUpdate({ target: [idempotency.scope, idempotency.keyHash], set: { ...fields, createdAt: tx.at } });
}

/** Stores the final answer of a request that waited for a job. Returns false if that was done already. */
export async function answerJob(
  orm: Orm,
  key: AnswerKey,
  answer: Pick<StoredAnswer, 'status' | 'headers' | 'body'>,
  workbookId: string | null,
): Promise<boolean> {
  const rows = await orm
    .update(idempotency)
    .set({ ...answer, jobId: null, policyVersion: policyVersionOf(workbookId) })
    .where(and(matches(key), isNotNull(idempotency.jobId)))
    .returning({ scope: idempotency.scope });
  return rows.length > 0;
}
